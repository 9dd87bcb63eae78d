"""Deals in tile notation with their moves: what is too rare for chance, for both engines of peer_game.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from suphx.games.riichi.table import ANKAN, KAKAN, MINKAN, PASS, PON, RIICHI, RON, TSUMO, TSUMOGIRI
from suphx.games.riichi.tile import ALL_RED_FIVES, parse_faces
from suphx.kernel.record import I16
from tests.games.riichi.builders.staged_wall import plain_wall
from tests.games.riichi.builders.table_builder import make_wall


def face(tile: str) -> int:
    return parse_faces(tile)[0]


@dataclass
class ScriptedDeal:
    """The first deal of a game, seat 0 the dealer; ``moves``: each seat's moves, taken in order as soon as allowed.

    Otherwise seats pass and discard what they drew. It counts its deals: every game takes a fresh ``replace(deal)``.
    """

    happens: str
    """The situation (peer_game.py) that the deal is about."""
    hands: Sequence[str]
    moves: dict[int, list[int]]
    draws: str = ""
    rinshan: str = ""
    dora: str = ""
    ura: str = ""
    _left: dict[int, list[int]] = field(init=False, default_factory=dict)
    _num_deals: int = field(init=False, default=0)

    def wall(self, rng: np.random.Generator) -> I16:
        """Return the written wall for the first deal, and shuffled ones after it."""
        self._num_deals += 1
        self._left = {seat: list(moves) for seat, moves in self.moves.items()} if self._num_deals == 1 else {}
        if self._num_deals > 1:
            return plain_wall(rng)
        return make_wall(self.hands, self.draws, self.rinshan, self.dora, self.ura, 0, 69, ALL_RED_FIVES)

    def play(self, t: np.void, rng: np.random.Generator) -> int:
        """Return the actor's next written move if it is legal, or a default one."""
        legal = t["legal"]
        moves = self._left.get(int(t["actor"]), [])
        if moves and legal[moves[0]]:
            return moves.pop(0)
        if legal[PASS]:
            return PASS
        return TSUMOGIRI if legal[TSUMOGIRI] else int(np.flatnonzero(legal)[0])


def _nagashi_draws(seat: int) -> str:
    """Return 70 draws of which ``seat`` gets ends only, and the others none."""
    ends = iter(("1m 9m 1p 9p 1s 9s " * 2 + "1z 2z 3z 4z 5z 6z").split())
    others = iter([f"{number}{suit}" for suit in "mps" for number in range(2, 9)] * 4)
    return "".join(next(ends) if i % 4 == seat else next(others) for i in range(70))


def _nagashi_draws_with_call() -> str:
    """Return the same for seat 1 if seat 2, which then draws no tile, claims its last discard but one, 5z."""
    draws = [name + suit for name, suit in zip(*[iter(_nagashi_draws(1))] * 2, strict=True)]
    return "".join([*draws[:68], draws[69], draws[68]])


_DRAGONS = "556677z23m99s123z"
_FEED_DRAGONS = "4z 5z 6z 7z"  # seat 0 discards the first; seat 1 draws and discards the others, and seat 0 calls them
_CALL_DRAGONS = [PON, face("1z"), PON, face("2z"), PON, face("3z")]

SCRIPTED_DEALS = {
    "an added kan is robbed": ScriptedDeal(
        "chankan",
        ["22m147p258s", "13m456m789p11p999s", "", ""],
        {0: [PON, face("1p"), KAKAN + 1], 1: [RON]},
        draws="7z 6z 5z 2m 6z 5z 5z 2m",
    ),
    "an added kan is robbed while the dora of another kan is due": ScriptedDeal(
        "chankan",
        ["22m333p258s", "13m456m789p11p999s", "", ""],
        {0: [PON, face("2s"), MINKAN, KAKAN + 1], 1: [RON]},
        draws="7z 6z 5z 2m 6z 5z 3p",
        rinshan="2m",
        dora="5z 9s",
    ),
    "nagashi mangan": ScriptedDeal("nagashi mangan", ["", "", "", ""], {}, draws=_nagashi_draws(1)),
    "nagashi mangan of another seat than the tenpai dealer": ScriptedDeal(
        "nagashi mangan", ["234345678s77z78p", "", "", ""], {}, draws=_nagashi_draws(1)
    ),
    "nagashi mangan of a noten dealer": ScriptedDeal(
        "nagashi mangan", ["147m258p369s1234z", "", "", ""], {}, draws=_nagashi_draws(0)
    ),
    "no nagashi with a claimed discard": ScriptedDeal(
        "exhaustive draw", ["", "", "55z7z", ""], {2: [PON, face("7z")]}, draws=_nagashi_draws_with_call()
    ),
    "four winds": ScriptedDeal("four winds", ["", "", "", ""], {}, draws="2222z"),
    "the feeder of three dragons and another seat pay a ron": ScriptedDeal(
        "pao by ron", [_DRAGONS, "", "", ""], {0: [*_CALL_DRAGONS, RON]}, draws=_FEED_DRAGONS + "9p 1m"
    ),
    "the feeder of three dragons pays a tsumo": ScriptedDeal(
        "pao by tsumo", [_DRAGONS, "", "", ""], {0: [*_CALL_DRAGONS, TSUMO]}, draws=_FEED_DRAGONS + "9p 8p 2p 1m"
    ),
    "the feeder of three dragons deals in": ScriptedDeal(
        "daisangen", [_DRAGONS, "", "", ""], {0: [*_CALL_DRAGONS, RON]}, draws=_FEED_DRAGONS + "1m"
    ),
    "a feeder answers for all of two yakuman": ScriptedDeal(
        "pao by ron",
        ["556677z1122z348p", "", "", ""],
        {0: [PON, face("3p"), PON, face("4p"), PON, face("8p"), RON]},
        draws=_FEED_DRAGONS + "9p 1z",
    ),
    "four kans of one seat": ScriptedDeal(
        "suukantsu",
        ["1111m2222m3333m4m", "", "", ""],
        {0: [ANKAN, ANKAN + 1, ANKAN + 2, ANKAN + 3, TSUMO]},
        draws="4m",
        rinshan="4m 4m 7z 7z",
    ),
    "all green": ScriptedDeal("ryuuiisou", ["22334466s888s66z", "", "", ""], {0: [TSUMO]}, draws="7z 1m1m1m 6z"),
    "a riichi tile is won": ScriptedDeal(
        "ron of a riichi discard",
        ["123456789m1122p", "234567m234567s2p", "", ""],
        {0: [RON], 1: [RIICHI, face("2p")]},
        draws="7z 5s",
    ),
}
