"""A recorded game in memory: what mjlog.py and mjai.py read and write, and what replay.py plays through the engine.

A game is its walls and its moves; hands, melds and scores follow from them. Passes are not stored: whoever was asked
and has no move passed (or was overruled, see replay.py).

``does_tenpai_end_game`` knows what changed in Tenhou's rules, and when, as far as records tell (docs/rules.md).
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field, fields
from typing import NamedTuple

import numpy as np

from suphx.games.riichi import table as codes
from suphx.games.riichi.rules import Rules
from suphx.kernel.record import U8, U16

ACTION_BITS = 7
_ACTION_MASK = (1 << ACTION_BITS) - 1
_NUM_DEALT = 52
_COPIES = 4
NO_SEED = "no seed in the record"
UNREADABLE_CHARACTERS = re.compile("[\ud800-\udfff\ufffd]")
"""Of a name: lone surrogates, which cannot be written, and what stands for bytes that are not of the encoding."""
MAX_ID_BYTES = 48
"""Of the id of a game that is stored (store.py)."""


class DrawnEnd(NamedTuple):
    """A way in which a kyoku ends without a win, and its names."""

    result: int
    mjlog: str
    """``type`` of RYUUKYOKU."""
    mjai: str
    """``reason`` of ryukyoku."""
    tenhou6: str
    name: str


DRAWN_ENDS = (
    DrawnEnd(codes.EXHAUSTIVE_DRAW, "", "fanpai", "流局", "exhaustive draw"),
    DrawnEnd(codes.NAGASHI_MANGAN, "nm", "nagashimangan", "流し満貫", "nagashi mangan"),
    DrawnEnd(codes.NINE_TERMINALS_DRAW, "yao9", "kyushukyuhai", "九種九牌", "nine terminals"),
    DrawnEnd(codes.FOUR_WINDS_DRAW, "kaze4", "suufonrenta", "四風連打", "four winds"),
    DrawnEnd(codes.FOUR_RIICHI_DRAW, "reach4", "suuchareach", "四家立直", "four riichi"),
    DrawnEnd(codes.FOUR_KANS_DRAW, "kan4", "suukaikan", "四槓散了", "four kans"),
    DrawnEnd(codes.TRIPLE_RON_DRAW, "ron3", "sanchaho", "三家和了", "triple ron"),
)
END_OF_RESULT = {end.result: end for end in DRAWN_ENDS}
RESULT_NAMES = {codes.WIN_RESULT: "win"} | {end.result: end.name for end in DRAWN_ENDS}


def move(seat: int, action: int) -> int:
    """Return ``action`` (0-121, see table.py) of ``seat`` as one number: the seat in the bits above the action."""
    return seat << ACTION_BITS | action


@dataclass(slots=True, kw_only=True)
class KyokuLog:
    """One deal: its start, its wall and every move."""

    kyoku: int
    """0 = East 1 … 11 = West 4."""
    honba: int
    kyotaku: int
    """Riichi sticks on the table at the start."""
    scores: tuple[int, int, int, int]
    """Points of the four seats at the start."""
    wall: U8
    """136 tile ids in drawing order (table.py). A tile that the record does not show stands anywhere that is free."""
    is_wall_from_seed: bool
    """The wall was computed from the record's shuffle seed, so that every draw can be checked."""
    moves: U16
    """``move(seat, action)`` in order; a double ron is two RON moves, in the order of payment."""
    result: np.void
    """A RESULT record: what the record says of the end."""
    deal: U8 = field(default_factory=lambda: np.zeros(0, np.uint8))
    """52 dealt tile ids in drawing order as recorded; empty if the wall is the only source."""
    draws: U8 = field(default_factory=lambda: np.zeros(0, np.uint8))
    """Tile ids of every draw in order (rinshan included) as recorded; empty if the wall is the only source."""
    is_result_complete: bool = True
    """False when the record has no han, fu and yaku (mjai): then only winners and score changes are compared.

    The fu of a limit hand may be 0 all the same, where the format does not have it (tenhou6).
    """
    is_ura_known: bool = True
    """False when the record does not show the ura dora indicators of a win with riichi (``Replayer.find_ura``)."""
    dice: tuple[int, int] = (1, 1)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KyokuLog):
            return NotImplemented
        names = (each.name for each in fields(self))
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)

    __hash__ = None  # type: ignore[assignment]  # it can be changed


@dataclass(slots=True, kw_only=True)
class GameLog:
    """One game of four seats."""

    id: str
    rules: Rules
    names: tuple[str, str, str, str]
    dans: tuple[int, ...] = ()
    """Tenhou's grade of each seat: 0 = newcomer, 10 = 1 dan, 19 = 10 dan, 20 = Tenhou; empty if unknown."""
    ratings: tuple[float, ...] = ()
    room: str = ""
    """Of Tenhou's ranked lobby: "general", "advanced", "expert", "phoenix"; "" of a game elsewhere, or if unknown."""
    kyokus: list[KyokuLog] = field(default_factory=list)
    seed_problem: str = NO_SEED
    """Why the draws are not compared with a shuffle seed; "" if they are."""
    ignored: Counter[str] = field(default_factory=Counter, compare=False)
    """What the reader left out, because the game does not need it, and how often: live tags, broken names."""
    final_scores: tuple[int, int, int, int] | None = None
    """Points at the end, left-over sticks given to the first; None if the record stops earlier."""
    source: str = field(default="", compare=False)
    """The file that it was read from, or ``archive.tar/member``; "" if it was read from none."""
    source_position: str = field(default="", compare=False)
    """Where in the file: "line 7", or "" for the whole file."""

    def content_digest(self) -> bytes:
        """Return a digest of dealt tiles and moves: the same for a game as mjlog and as mjai.

        mjai has no tile ids and does not tell when a seat disconnects.
        """
        whole = hashlib.sha256()
        for kyoku in self.kyokus:
            whole.update(np.sort(kyoku.wall[:_NUM_DEALT] // _COPIES).tobytes())
            whole.update(kyoku.moves[kyoku.moves & _ACTION_MASK < codes.LEAVE].tobytes())
        return whole.digest()

    def place(self, position: str) -> tuple[str, str]:
        """Return file and position for what is said of it: those of its source, else its id; then ``position``."""
        return self.source or self.id, ", ".join(part for part in (self.source_position, position) if part)


def empty_result() -> np.void:
    """Return a RESULT record of zeros, the absent liable seats set to -1."""
    results = np.zeros(1, codes.RESULT)
    results["win_liable"] = -1
    result: np.void = results[0]
    return result


_TENHOU_ID = re.compile(r"([0-9]{10})gm-")
_LAST_THAT_WENT_ON = "2010060106"
_FIRST_THAT_ENDED = "2010061314"


def does_tenpai_end_game(log: GameLog) -> bool:
    """Return the ``tenpai_ends_game`` (rules.py) of a whole game, from the hour in its id.

    The last game at hand that went on after such a draw is of 2010-06-01, 6 o'clock; the first that ended is of
    2010-06-13, 14 o'clock. A game in between follows the newer rule unless it goes on itself. Ids of other places have
    no hour: there the newer rule holds.
    """
    hour = _TENHOU_ID.search(log.id)
    if hour is None or hour[1] >= _FIRST_THAT_ENDED:
        return True
    return hour[1] > _LAST_THAT_WENT_ON and not _goes_on_after_tenpai(log)


def _goes_on_after_tenpai(log: GameLog) -> bool:
    """Tell whether a kyoku follows a draw at which the last dealer was ahead, with the target, and tenpai."""
    for kyoku, following in zip(log.kyokus, log.kyokus[1:], strict=False):
        dealer, scores = kyoku.kyoku % 4, following.scores
        is_last = kyoku.kyoku >= 4 * log.rules.num_winds - 1
        is_drawn = kyoku.result["result"] in (codes.EXHAUSTIVE_DRAW, codes.NAGASHI_MANGAN)
        is_ahead = scores.index(max(scores)) == dealer and scores[dealer] >= log.rules.target_points
        if is_last and is_drawn and is_ahead and kyoku.result["tenpai"][dealer]:
            return True
    return False
