"""The state of a game of DouDizhu, its rules and its scores, without kernels."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suphx.kernel.record import I8, I32, I64, Records, field, record_dtype
from suphx.number_range import check_ranges

if TYPE_CHECKING:
    from suphx.games.doudizhu.moves import Moves

LANDLORD, LANDLORD_DOWN, LANDLORD_UP = 0, 1, 2
NUM_SEATS = 3
SEAT_NAMES = ("landlord", "landlord_down", "landlord_up")

# phase: what the table waits for
EMPTY = 0  # a deal
PLAYING = 1  # a move of ``actor``
GAME_END = 2  # nothing: ``winner`` is known

NO_MOVE = -1
NO_SEAT = -1
NO_BID = -1
PASS_BID = 0
MAX_MOVES = 160  # 54 plays of one card, two passes between any two of them


class Table:
    """One game."""

    seed: int = field("i8")
    phase: int = field("i1")
    actor: int = field("i1")  # the seat whose turn it is
    hands: I64 = field("i8", 3)
    played: I64 = field("i8", 3)  # all that each seat has played
    bottom: int = field("i8")  # the three public cards that the landlord got
    to_beat: int = field("i4")  # the move to beat, the pass if the actor leads
    num_passes: int = field("i1")  # since the last play: 0, 1, 2
    num_bombs: int = field("i1")  # bombs and rocket that were played
    stake: int = field("i1")  # what a game without bombs is worth: the landlord's bid, 1 without an auction
    bids: I8 = field("i1", 3)  # of each seat, 0 for a pass; NO_BID where there was no turn to bid
    first_bidder: int = field("i1")  # or NO_SEAT without an auction
    winner: int = field("i1")  # the seat that played its last card, or NO_SEAT
    last_moves: I32 = field("i4", 3)  # the last move of each seat, passes too, or NO_MOVE
    num_moves: int = field("i2")
    moves: I32 = field("i4", MAX_MOVES)  # all moves of the game in order


TABLE = record_dtype(Table)


Scoring = Literal["win", "points", "log points"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of a game; the defaults are those of the published 27,472 actions."""

    scoring: Scoring = "win"
    """What a win is worth: "win" = 1, "points" = the stake (1 without bidding) times 2 to the power of the bombs
    played, "log points" = 1 + the logarithm of the points to base 2, which is 1 + bombs without bidding."""
    bidding: bool = False
    """The seats bid 1 to 3 with 17 cards each; the highest bidder becomes the landlord, and the bid is the stake."""
    douzero_kickers: bool = False
    """Use the looser kickers of DouZero's move generator (29,984 sets of cards), for comparisons with DouZero only."""

    def __post_init__(self) -> None:
        check_ranges(self)
        for name in ("bidding", "douzero_kickers"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} is {getattr(self, name)!r}: use true or false")

    def values(self) -> dict[str, Any]:
        """Return the options for files; ``bidding`` only if it is on, as files of earlier versions do not have it."""
        values = asdict(self)
        return values if self.bidding else {name: value for name, value in values.items() if name != "bidding"}

    def load_moves(self) -> Moves:
        """Return the table of moves that these rules allow."""
        from suphx.games.doudizhu.moves import load_moves  # with numba, which recipes do not need

        return load_moves(self.douzero_kickers)


F32: TypeAlias = NDArray[np.float32]


def scores_of(tables: Records, scoring: Scoring) -> F32:
    """Return float32 [n, 3] by seat: what each seat of n tables won (> 0) or lost (< 0); 0 while a game goes on.

    The peasants win and lose together. Every seat's score has the same size, as DouZero's returns have; counted in
    points on the table, the landlord's is worth twice as much.
    """
    bombs, stake = tables["num_bombs"].astype(np.float32), np.maximum(tables["stake"], 1).astype(np.float32)
    points, logarithm = stake * np.exp2(bombs), bombs + np.log2(stake) + 1
    worth = {"win": np.ones_like(bombs), "points": points, "log points": logarithm}[scoring]
    landlord_wins = tables["winner"] == LANDLORD
    signs = np.where(np.arange(NUM_SEATS) == LANDLORD, 1, -1) * np.where(landlord_wins, 1, -1)[:, None]
    return (signs * worth[:, None] * (tables["phase"] == GAME_END)[:, None]).astype(np.float32)
