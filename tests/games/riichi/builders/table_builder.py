"""Deals in tile notation: hand-made walls, so that a test can say exactly who holds and draws what.

>>> deal = Deal(["123456789m1123p", "", "", ""], draws="4p 7z", dora="1z")
>>> deal.play("0 4p, tsumogiri")
>>> deal.is_offered(0, RON)
False
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from suphx.games.mahjong.shanten import load_suits
from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD
from suphx.games.riichi import table as codes
from suphx.games.riichi.kyoku import start_kyoku, step
from suphx.games.riichi.legal import fill_own_turn, tiles_left
from suphx.games.riichi.rules import Rules, apply_rules, tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import TABLE, action_name
from suphx.games.riichi.tile import face_of_id, kind_of_face, parse_faces, parse_kinds
from suphx.games.riichi.yaku_number import YAKU_NAMES
from suphx.kernel.record import I8, I16, Records

MELD_TYPES = {"chi": CHI_MELD, "pon": PON_MELD, "ankan": ANKAN_MELD, "minkan": MINKAN_MELD, "kakan": KAKAN_MELD}

_ACTIONS = {action_name(action): action for action in range(codes.NUM_ACTIONS)}

# The order of the tiles left over: neighbours are far apart, so that hands filled with them are far from ready.
_SPREAD = [(i * 53 + 7) % 136 for i in range(136)]


def counts_of(text: str) -> I8:
    """Return int8 (34,) counts of the tiles of a text such as ``"123m55z"``."""
    return np.bincount(parse_kinds(text), minlength=34).astype(np.int8)


def bits_of(text: str) -> int:
    """Return the bit set of the kinds of a text."""
    return sum(1 << kind for kind in set(parse_kinds(text)))


def melds_of(texts: Sequence[str]) -> tuple[I8, I8]:
    """Return types and lowest kinds, int8 (4,) each, of melds such as ``"chi 123m"`` and ``"ankan 1111z"``."""
    types, kinds = np.zeros(4, np.int8), np.zeros(4, np.int8)
    for i, text in enumerate(texts):
        name, tiles = text.split()
        types[i], kinds[i] = MELD_TYPES[name], min(parse_kinds(tiles))
    return types, kinds


class Deal:
    """One deal on a hand-made wall; acts for the seats by name and passes for everybody who is not mentioned.

    Hands shorter than 13 tiles and places of the wall that are not given are filled with the tiles left over, always
    in the same order.
    """

    def __init__(
        self,
        hands: Sequence[str],
        *,
        draws: str = "",
        rinshan: str = "",
        dora: str = "",
        ura: str = "",
        kyoku: int = 0,
        honba: int = 0,
        kyotaku: int = 0,
        scores: Sequence[int] = (25_000, 25_000, 25_000, 25_000),
        left: int = 69,
        rules: Rules | None = None,
    ) -> None:
        """``hands`` of seats 0-3; ``left``: tiles in the wall after the dealer's draw, the first of ``draws``."""
        rules = rules or Rules()
        tables = np.zeros(1, TABLE)
        self.tables = tables
        self._suits = load_suits()
        self.table: Any = tables[0]
        apply_rules(tables, rules)
        self.table["scores"] = scores
        self.table["kyoku"], self.table["honba"], self.table["kyotaku"] = kyoku, honba, kyotaku
        self.table["wall"] = make_wall(hands, draws, rinshan, dora, ura, kyoku % 4, left, rules.red_bits)
        start_kyoku(tables[0], self._suits)
        if left != 69:
            # In the middle of a deal: nobody's first turn.
            self.table["next_draw"] = codes.LAST_DRAW - left
            self.table["is_first_turn"] = 0
            fill_own_turn(tables[0], self._suits)

    @property
    def num_left(self) -> int:
        """Tiles that can still be drawn."""
        return int(tiles_left(self.tables[0]))

    def legal(self) -> list[str]:
        """Return the names of the actor's actions."""
        return [action_name(int(action)) for action in np.flatnonzero(self.table["legal"])]

    def is_offered(self, seat: int, action: int) -> bool:
        """Tell whether ``seat`` may take ``action`` in this turn or claim window, the seats before it passing."""
        copy = self.tables.copy()
        while copy["actor"][0] != seat and copy["phase"][0] in (codes.CLAIM, codes.ROB_KAN):
            step(copy[0], self._suits, codes.PASS)
        is_same_turn = copy["turn"][0] == self.table["turn"] and copy["phase"][0] == self.table["phase"]
        return bool(is_same_turn and copy["actor"][0] == seat and copy["legal"][0, action])

    def act(self, seat: int, action: int) -> None:
        """Let ``seat`` take ``action``, everybody asked before it passing; AssertionError if it may not."""
        while self.table["phase"] in (codes.CLAIM, codes.ROB_KAN) and self.table["actor"] != seat:
            step(self.tables[0], self._suits, codes.PASS)
        assert self.table["phase"] != codes.KYOKU_END, "the deal is over"
        assert self.table["actor"] == seat, f"seat {self.table['actor']} is asked, not seat {seat}"
        assert self.table["legal"][action], f"{action_name(action)} is not legal; legal: {', '.join(self.legal())}"
        step(self.tables[0], self._suits, action)

    def discard(self, seat: int, tile: str) -> None:
        """Let ``seat`` discard ``tile``: the one just drawn if it is the same."""
        self.pass_all()
        (face,) = parse_faces(tile)
        self.act(seat, codes.TSUMOGIRI if self.table["drawn"] == face else face)

    def pass_all(self) -> None:
        """Let everybody who is asked for a claim pass."""
        while self.table["phase"] in (codes.CLAIM, codes.ROB_KAN):
            step(self.tables[0], self._suits, codes.PASS)

    def tsumogiri(self, times: int = 1) -> None:
        """Let the next ``times`` turns discard what was drawn, nobody claiming."""
        for _ in range(times):
            self.pass_all()
            assert self.table["phase"] != codes.KYOKU_END, "the deal is over"
            step(self.tables[0], self._suits, codes.TSUMOGIRI)
        self.pass_all()

    def play(self, moves: str) -> None:
        """Play moves: ``"0 5z, 1 pon, 1 9p, tsumogiri 3, 2 may ron, all pass"``.

        A seat discards a tile or takes an action by name; ``may``, ``may not``: AssertionError unless that is so.
        """
        for move in moves.split(", "):
            who, _, what = move.partition(" ")
            if who == "tsumogiri":
                self.tsumogiri(int(what or 1))
            elif who == "all":
                self.pass_all()
            elif what.startswith("may "):
                is_wanted = not what.startswith("may not ")
                action = _ACTIONS[what.removeprefix("may ").removeprefix("not ")]
                assert self.is_offered(int(who), action) == is_wanted, f"{move}; legal: {', '.join(self.legal())}"
            elif what in _ACTIONS:
                self.act(int(who), _ACTIONS[what])
            else:
                self.discard(int(who), what)

    def shows(self, name: str) -> Any:
        """Return a field of the table: ``"deltas"``, of one seat ``"scores.0"``; ``"yaku"``: the names of a win."""
        if name == "yaku":
            return ", ".join(YAKU_NAMES[number] for number in sorted(self.win_yaku()))
        field, _, index = name.partition(".")
        value = self.table[field]
        return (value[int(index)] if index else value).tolist()

    def deltas(self) -> list[int]:
        """Return the score changes at the end of the deal."""
        assert self.table["phase"] == codes.KYOKU_END, f"the deal goes on in phase {self.table['phase']}"
        changes: list[int] = self.table["deltas"].tolist()
        return changes

    def win_yaku(self, w: int = 0) -> set[int]:
        """Return the yaku numbers of win ``w``."""
        assert self.table["phase"] == codes.KYOKU_END, f"the deal goes on in phase {self.table['phase']}"
        return {number for number in range(52) if int(self.table["win_yaku"][w]) >> number & 1}


def make_wall(
    hands: Sequence[str], draws: str, rinshan: str, dora: str, ura: str, dealer: int, left: int, red_fives: int
) -> I16:
    """Return int16 (136,) tile ids that deal these hands and draws; ValueError for a fifth tile of a kind."""
    wanted: dict[int, int] = {}
    for seat, hand in enumerate(hands):
        places = [i for i in range(52) if (dealer + (i // 4 % 4 if i < 48 else i % 4)) % 4 == seat]
        if len(parse_faces(hand)) > 13:
            raise ValueError(f"the hand {hand!r} has {len(parse_faces(hand))} tiles: deal 13 at most")
        wanted.update(zip(places, parse_faces(hand), strict=False))
    # The dealer's draw, then those after it.
    wanted.update(zip([52, *range(codes.LAST_DRAW - left, codes.LAST_DRAW)], parse_faces(draws), strict=False))
    wanted.update(zip(codes.RINSHAN, parse_faces(rinshan), strict=False))
    wanted.update((codes.DORA_POSITIONS[i], face) for i, face in enumerate(parse_faces(dora)))
    wanted.update((codes.URA_POSITIONS[i], face) for i, face in enumerate(parse_faces(ura)))
    free = list(_SPREAD)
    wall = np.full(136, -1, np.int16)
    for place, face in wanted.items():
        wall[place] = _take(free, face, red_fives)
    wall[wall < 0] = free
    return wall


def _take(free: list[int], face: int, red_fives: int) -> int:
    """Take a tile of ``face`` out of ``free``."""
    for tile_id in sorted(free):
        if face_of_id(tile_id, red_fives) == face:
            free.remove(tile_id)
            return tile_id
    raise ValueError(f"no tile of face {face} (kind {kind_of_face(face)}) is left: too many of it are asked for")


def deal_hand(hand: str, seeds: Iterable[int], seat: int = 0) -> Records:
    """Return East 1 of Tenhou's rules for each seed, TABLE (n,), in which ``seat`` is dealt ``hand``.

    A 14th tile of seat 0 is its first draw; all else is random.
    """
    all_seeds = list(seeds)
    simulator = Simulator(len(all_seeds), tenhou())
    simulator.reset(all_seeds)
    places = [*(i for i in range(52) if (i // 4 % 4 if i < 48 else i % 4) == seat), 52]
    for table in simulator.tables:
        free = list(range(136))
        for place, face in zip(places, parse_faces(hand), strict=False):
            other = int(np.flatnonzero(table["wall"] == _take(free, face, int(table["red_fives"])))[0])
            table["wall"][[place, other]] = table["wall"][[other, place]]
        start_kyoku(table, load_suits())
    return simulator.tables
