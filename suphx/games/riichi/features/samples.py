"""From recorded games to training samples of one head: input rows, legal masks, labels; encoded on the fly.

Which decisions count (paper, Figure 1): discard = every discard with a choice; riichi = every turn on which riichi was
allowed and a tile was discarded; kong = every possible closed or added kan on a turn without a win, and every possible
open kan; pong and chow = every possible claim, one row for each. The passes are samples too. Left out: seats that were
disconnected, turns with one choice only, and claims whose answer is unknown because a higher claim overruled it.
"""

from __future__ import annotations

import numpy as np

from suphx.experience.observation import Samples
from suphx.games.mahjong.planes import count_bits, count_masks
from suphx.games.riichi import names
from suphx.games.riichi import table as codes
from suphx.games.riichi.archive.store import KyokuStore, is_playable
from suphx.games.riichi.features.encoder import ENCODERS, encode_candidate, encode_observation
from suphx.games.riichi.features.suit_targets import Lookup, load_lookup
from suphx.games.riichi.kyoku import start_kyoku
from suphx.games.riichi.legal import discardable_kinds
from suphx.games.riichi.records.replay import ABSENT, follow, is_action_known, is_legal_move, recorded_action
from suphx.games.riichi.rules import copy_rules
from suphx.games.riichi.table import Table
from suphx.games.riichi.tile import kind_of_face
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I64, U8, U16, Records

NO_CANDIDATE = -1
"""Candidate of the discard and riichi heads, which judge no single tile."""


class BadDealError(ValueError):
    """A deal that cannot be replayed: the id of its ``game``, and its number ``deal`` there, from 0 on."""

    def __init__(self, text: str, game: str, deal: int) -> None:
        super().__init__(text, game, deal)  # all of them: it travels between processes
        self.game = game
        self.deal = deal

    def __str__(self) -> str:
        return str(self.args[0])


def encode_kyokus(store: KyokuStore, kyoku_indices: I64, head: int, encoder: str = "mini") -> Samples:
    """Replay the deals ``kyoku_indices`` of ``store`` and encode all samples of ``head``, in their order.

    ValueError for an index without a deal, BadDealError for a deal that is damaged or contradicts the rules (a store
    made by the records stage has none).
    """
    entry = ENCODERS[encoder]
    lookup = load_lookup()
    games = np.asarray(store.games)
    indices = np.asarray(kyoku_indices, np.int64)
    if indices.size and not 0 <= indices.min() <= indices.max() < store.num_kyokus:
        raise ValueError(f"deals {indices.min()} to {indices.max()} are wanted of {store.num_kyokus} in {store.folder}")
    num_columns = 34 if head == names.DISCARD_HEAD else 0
    nothing = (np.zeros((0, 0), np.uint8), np.zeros((0, 0), np.uint8), np.zeros(0, np.int8))
    table = np.zeros(1, codes.TABLE)
    count = _encode(table, store.kyokus, games, store.moves, indices, lookup, entry.id, head, False, *nothing)
    if count < 0:
        index = int(indices[-count - 1])
        number = int(store.kyokus[index]["game"])
        game = games[number]["id"].decode("utf-8", "replace") if 0 <= number < store.num_games else "unknown"
        raise BadDealError(
            f"deal {index} of {store.folder} (game {game}) contradicts the rules or is damaged: run the records stage "
            "again",
            game,
            index - int(np.flatnonzero(store.kyokus["game"] == number)[0]),
        )
    rows = np.zeros((count, entry.layout(head).observation_bytes), np.uint8)
    masks = np.zeros((count, num_columns), np.uint8)
    labels = np.zeros(count, np.int8)
    _encode(table, store.kyokus, games, store.moves, indices, lookup, entry.id, head, True, rows, masks, labels)
    return Samples(rows, masks, labels)


@jit
def _encode(
    tables: Records, kyokus: Records, games: Records, moves: U16, indices: I64, lookup: Lookup, encoder: int, head: int,
    fills: bool, rows: U8, masks: U8, labels: I8,
) -> int:  # fmt: skip
    """Return the number of samples; with ``fills`` write them. -1 - i when deal indices[i] contradicts the rules.

    ``tables`` (1,) is scratch. It must come from outside: numba frees an array after its last use, and a record taken
    from it does not keep it alive.
    """
    t = tables[0]
    suits = lookup.suits
    cursor = np.zeros(4, np.int64)
    candidates = np.zeros(40, np.int64)
    n = 0
    for i in range(len(indices)):
        kyoku = kyokus[indices[i]]
        if not is_playable(kyoku, len(games), len(moves)):
            return -1 - i
        copy_rules(games[kyoku.game], t)
        t.kyoku, t.honba, t.kyotaku = kyoku.kyoku, kyoku.honba, kyoku.kyotaku
        t.scores[:] = kyoku.scores
        t.wall[:] = kyoku.wall
        start_kyoku(t, suits)
        cursor[:] = 0
        own = moves[kyoku.first_move : kyoku.first_move + kyoku.num_moves]
        while t.phase != codes.KYOKU_END:
            action = recorded_action(t, own, kyoku.result, cursor)
            if not is_legal_move(t, action):
                return -1 - i
            if not cursor[ABSENT] >> t.actor & 1:
                count = _list_samples(t, head, action, is_action_known(t, own, cursor), candidates)
                for c in range(count):
                    if fills:
                        if c > 0:
                            encode_candidate(encoder, lookup, t, t.actor, head, candidates[c], rows[n - 1], rows[n])
                        else:
                            encode_observation(encoder, lookup, t, t.actor, head, candidates[c], rows[n])
                        labels[n] = label_of(t, head, candidates[c], action)
                        if head == names.DISCARD_HEAD:
                            fill_discard_mask(t, masks[n])
                    n += 1
            if not follow(t, suits, own, cursor, action):
                return -1 - i
    return n


@jit
def _list_samples(t: Table, head: int, action: int, is_known: bool, candidates: I64) -> int:
    """Write what ``head`` learns from the actor's ``action``; return the number of rows."""
    if t.phase == codes.CLAIM:
        return list_claims(t, head, candidates) if is_known and action != codes.RON else 0
    count = list_candidates(t, head, candidates)
    if head == names.DISCARD_HEAD:
        return count if action <= codes.TSUMOGIRI and count_bits(_legal_kinds(t)) > 1 else 0
    if head == names.RIICHI_HEAD:
        return count if action <= codes.TSUMOGIRI or action == codes.RIICHI else 0
    return count if action != codes.TSUMO else 0


@jit
def list_candidates(t: Table, head: int, candidates: I64) -> int:
    """Write what ``head`` is asked about at a table that waits; return the number of rows.

    A candidate is NO_CANDIDATE (discard, riichi), or the claim or kan whose planes are encoded. Of a call with and
    without the red five, the one with it stands for both.
    """
    if t.phase == codes.CLAIM:
        return list_claims(t, head, candidates)
    candidates[0] = NO_CANDIDATE
    if head == names.DISCARD_HEAD:
        return int(t.phase != codes.ROB_KAN)
    if t.phase != codes.OWN_TURN:
        return 0
    if head == names.RIICHI_HEAD:
        return t.legal[codes.RIICHI]
    return list_own_kans(t, candidates) if head == names.KONG_HEAD else 0


@jit
def list_claims(t: Table, head: int, candidates: I64) -> int:
    """Write the possible claims of one head in a claim window; return how many there are."""
    n = 0
    if head == names.KONG_HEAD and t.legal[codes.MINKAN]:
        candidates[n] = codes.MINKAN
        n += 1
    elif head == names.PONG_HEAD and (t.legal[codes.PON] or t.legal[codes.PON_RED]):
        candidates[n] = codes.PON_RED if t.legal[codes.PON_RED] else codes.PON
        n += 1
    elif head == names.CHOW_HEAD:
        for position in range(3):
            if t.legal[codes.CHI_RED + position]:
                candidates[n] = codes.CHI_RED + position
                n += 1
            elif t.legal[codes.CHI + position]:
                candidates[n] = codes.CHI + position
                n += 1
    return n


@jit
def list_own_kans(t: Table, candidates: I64) -> int:
    """Write the possible closed and added kans of the actor's turn; return how many there are."""
    n = 0
    for action in range(codes.ANKAN, codes.KAKAN + 34):
        if t.legal[action]:
            candidates[n] = action
            n += 1
    return n


@jit
def _legal_kinds(t: Table) -> int:
    """Return as bits the kinds that the actor may discard."""
    return discardable_kinds(t, t.actor, count_masks(t.hand[t.actor])[0])


@jit
def fill_discard_mask(t: Table, mask: U8) -> None:
    """Fill uint8 (34,) with 1 for each kind that the actor may discard."""
    kinds = _legal_kinds(t)
    for kind in range(34):
        mask[kind] = kinds >> kind & 1


@jit
def label_of(t: Table, head: int, candidate: int, action: int) -> int:
    """Return the label: the kind of the discard, or whether ``action`` is the candidate (red or not)."""
    if head == names.DISCARD_HEAD:
        return kind_of_face(t.drawn if action == codes.TSUMOGIRI else action)
    if head == names.RIICHI_HEAD:
        return int(action == codes.RIICHI)
    if head == names.PONG_HEAD:
        return int(codes.PON <= action <= codes.PON_RED)
    if head == names.CHOW_HEAD:
        return int(codes.CHI <= action < codes.PASS and codes.chi_position(action) == codes.chi_position(candidate))
    return int(action == candidate)
