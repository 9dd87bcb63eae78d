"""The decision flow of the paper's Figure 1, over a batch of tables that wait for their actors.

Own turn: win rule, kong net for every possible kan, riichi net, discard net. Another seat's discard: win rule, then
the chow, pong and kong nets judge every possible claim; of those that say yes the most confident one is proposed.
The nets are asked once a head for all tables together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from suphx.experience.sampling_uniform import F32, fill_mask_seeds, fill_uniforms
from suphx.games.riichi.bots.win_rule import should_win
from suphx.games.riichi.engine.kyoku import step
from suphx.games.riichi.features.batch import encode_rows
from suphx.games.riichi.features.encoder import Encoder
from suphx.games.riichi.features.head import CHOW, DISCARD, KONG, PONG, RIICHI
from suphx.games.riichi.features.lookahead.lookup import load_lookup
from suphx.games.riichi.features.oracle_row import with_oracle
from suphx.games.riichi.features.samples import fill_discard_mask, list_claims, list_own_kans
from suphx.games.riichi.hand.suit_table import Suits
from suphx.games.riichi.table.action import NINE_TERMINALS, PASS, RON, TSUMO, TSUMOGIRI
from suphx.games.riichi.table.action import RIICHI as RIICHI_ACTION
from suphx.games.riichi.table.table import CLAIM, KYOKU_END, OWN_TURN, ROB_KAN, Table
from suphx.games.riichi.table.tile import kind_of_face
from suphx.kernel.jit import jit
from suphx.kernel.record import I16, I64, U8, Records

UNDECIDED = -1
NO_CANDIDATE = -1
"""Of an observation that is about no tile: which tile to discard, and whether to declare riichi."""
NO_GAMMAS: Mapping[int, float] = MappingProxyType({})
_MAX_CANDIDATES = 40

Forward = Callable[[int, U8, U8, F32], np.ndarray]
"""(head, rows uint8 [n, row_bytes], masks uint8 [n, 34] or [n, 0], uniforms float32 [n]) -> scores float32: above 0.5
for yes [n], or one score a kind [n, 34] for the discard head, illegal kinds lowest. ``uniforms`` in 0 … 1: the quantile
of a sampled answer; they depend on the wall's seed and the decision only (sampling_uniform.py)."""


def decide(
    tables: Records,
    indices: I64,
    encoder: Encoder,
    forward: Forward,
    gammas: Mapping[int, float] = NO_GAMMAS,
) -> I16:
    """Return one legal action, int16 (n,), for the actor of each of the tables ``indices``.

    ``forward`` answers for the nets. A claim or kan or riichi is made when its probability is above one half.
    ``gammas``: heads that get wide rows (features/oracle_row.py), with the gamma of the masks in these.
    """
    actions = decide_calls(tables, indices, encoder, forward, gammas)
    rows, masks, owners = observe_discards(tables, indices, actions, encoder, gammas)
    if owners.size:
        uniforms = _uniforms(tables, indices, owners, np.full(owners.size, NO_CANDIDATE), DISCARD)
        kinds = forward(DISCARD, rows, masks, uniforms).argmax(axis=1)
        fill_discards(tables, indices, owners, kinds, actions)
    return actions


def decide_calls(
    tables: Records, indices: I64, encoder: Encoder, forward: Forward, gammas: Mapping[int, float] = NO_GAMMAS
) -> I16:
    """Return what ``decide`` does, but UNDECIDED wherever the discard net is to be asked."""
    actions = np.full(indices.shape, UNDECIDED, np.int16)
    apply_rules(tables, indices, actions)
    confidence = np.full(indices.shape, 0.5, np.float32)
    for head in (KONG, PONG, CHOW):
        rows, owners, candidates = gather_observations(tables, indices, actions, encoder, head, gamma=gammas.get(head))
        if owners.size:
            scores = forward(head, rows, _NO_MASK, _uniforms(tables, indices, owners, candidates, head))
            choose_best(scores, owners, candidates, confidence, actions)
    pass_claims(tables, indices, actions)
    gamma = gammas.get(RIICHI)
    rows, owners, candidates = gather_observations(tables, indices, actions, encoder, RIICHI, gamma=gamma)
    if owners.size:
        says_yes = forward(RIICHI, rows, _NO_MASK, _uniforms(tables, indices, owners, candidates, RIICHI)) > 0.5
        actions[owners[says_yes]] = RIICHI_ACTION
    return actions


def observe_discards(
    tables: Records, indices: I64, actions: I16, encoder: Encoder, gammas: Mapping[int, float] = NO_GAMMAS
) -> tuple[U8, U8, I64]:
    """Return rows and masks [q, 34] of the observations for the discard net, and which of ``indices`` each is of."""
    rows, owners, _ = gather_observations(tables, indices, actions, encoder, DISCARD, gamma=gammas.get(DISCARD))
    masks = np.zeros((owners.size, 34), np.uint8)
    fill_masks(tables, indices, owners, masks)
    return rows, masks, owners


_NO_MASK = np.zeros((0, 0), np.uint8)


def _uniforms(tables: Records, indices: I64, owners: I64, candidates: I64, head: int) -> F32:
    uniforms = np.empty(owners.size, np.float32)
    fill_uniforms(tables, indices, owners, candidates, head, uniforms)
    return uniforms


@jit
def play_to_observation(tables: Records, suits: Suits, indices: I64, actions: I16) -> None:
    """Apply the actions that are decided; go on as far as the rules decide, or to the end of the deal."""
    claims = np.zeros(8, np.int64)
    for i in range(len(indices)):
        t = tables[indices[i]]
        action = int(actions[i])
        while t.phase != KYOKU_END:
            if action == UNDECIDED:
                action = rule_action(t)
            if action == UNDECIDED and t.phase == CLAIM and not _has_claim(t, claims):
                action = PASS
            if action == UNDECIDED:
                break
            step(t, suits, action)
            action = UNDECIDED


@jit
def _has_claim(t: Table, claims: I64) -> bool:
    return list_claims(t, KONG, claims) + list_claims(t, PONG, claims) + list_claims(t, CHOW, claims) > 0


@jit
def apply_rules(tables: Records, indices: I64, actions: I16) -> None:
    """Decide what needs no net: wins, nine terminals, robbing a kan, turns with one kind to discard."""
    for i in range(len(indices)):
        actions[i] = rule_action(tables[indices[i]])


@jit
def rule_action(t: Table) -> int:
    """Return the action that needs no net, or UNDECIDED."""
    if (t.legal[TSUMO] or t.legal[RON]) and should_win(t):
        return TSUMO if t.legal[TSUMO] else RON
    if t.phase == ROB_KAN:
        return PASS
    if t.legal[NINE_TERMINALS]:
        return NINE_TERMINALS
    if t.phase != CLAIM and t.num_legal == 1:
        return int(t.legal.argmax())
    return UNDECIDED


def gather_observations(
    tables: Records, indices: I64, actions: I16, encoder: Encoder, head: int, *, gamma: float | None = None
) -> tuple[U8, I64, I64]:
    """Return the rows of all observations for ``head``, which of ``indices`` each belongs to, and its candidate.

    ``gamma``: rows are wide, with masks of this gamma (features/oracle_row.py).
    """
    count = list_observations(tables, indices, actions, head, _NONE, _NONE)
    owners = np.zeros(count, np.int64)
    candidates = np.zeros(count, np.int64)
    list_observations(tables, indices, actions, head, owners, candidates)
    rows = np.zeros((count, encoder.layout(head).row_bytes), np.uint8)
    encode_rows(encoder.id, load_lookup(), head, tables, indices[owners], candidates, rows)
    if gamma is not None:
        seeds = np.zeros(count, np.int64)
        fill_mask_seeds(tables, indices[owners], candidates, head, seeds)
        rows = with_oracle(rows, tables, indices[owners], seeds, gamma=gamma)
    return rows, owners, candidates


_NONE = np.zeros(0, np.int64)


@jit
def list_observations(
    tables: Records, indices: I64, actions: I16, head: int, owners: I64, candidates: I64
) -> int:  # fmt: skip
    """Return how many rows ``head`` is asked for undecided tables; fill ``owners`` and ``candidates`` unless empty."""
    own = np.zeros(_MAX_CANDIDATES, np.int64)
    n = 0
    for i in range(len(indices)):
        t = tables[indices[i]]
        if actions[i] != UNDECIDED and not (t.phase == CLAIM and actions[i] != RON and actions[i] != PASS):
            continue
        for c in range(_num_observations(t, head, own)):
            if len(owners) > 0:
                owners[n] = i
                candidates[n] = own[c]
            n += 1
    return n


@jit
def _num_observations(t: Table, head: int, candidates: I64) -> int:
    if t.phase == CLAIM:
        return list_claims(t, head, candidates)
    candidates[0] = NO_CANDIDATE
    if head == DISCARD:
        return 1
    if t.phase != OWN_TURN:
        return 0
    if head == RIICHI:
        return t.legal[RIICHI_ACTION]
    return list_own_kans(t, candidates) if head == KONG else 0


def choose_best(scores: np.ndarray, owners: I64, candidates: I64, confidence: np.ndarray, actions: I16) -> None:
    """Propose for each owner the candidate whose score is above all before it and above one half, in place."""
    order = np.argsort(scores, kind="stable")  # the best of an owner comes last and stays
    better = order[scores[order] > confidence[owners[order]]]
    actions[owners[better]] = candidates[better]
    confidence[owners[better]] = scores[better]


@jit
def pass_claims(tables: Records, indices: I64, actions: I16) -> None:
    """Pass where no net wants the claim."""
    for i in range(len(indices)):
        if actions[i] == UNDECIDED and tables[indices[i]].phase == CLAIM:
            actions[i] = PASS


@jit
def fill_masks(tables: Records, indices: I64, owners: I64, masks: U8) -> None:
    """Fill uint8 [n, 34] with the kinds that the owners of the observations may discard."""
    for q in range(len(owners)):
        fill_discard_mask(tables[indices[owners[q]]], masks[q])


@jit
def fill_discards(tables: Records, indices: I64, owners: I64, kinds: I64, actions: I16) -> None:
    """Write the discard of each chosen kind."""
    for q in range(len(owners)):
        actions[owners[q]] = discard_action(tables[indices[owners[q]]], kinds[q])


@jit
def discard_action(t: Table, kind: int) -> int:
    """Return the action that discards ``kind``: the plain five before the red one, the drawn tile before its equal."""
    if t.drawn >= 0 and kind_of_face(t.drawn) == kind and (t.drawn < 34 or not t.legal[kind]):
        return TSUMOGIRI
    if t.legal[kind]:
        return kind
    return 34 + kind // 9
