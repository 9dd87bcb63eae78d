"""The state of one hand of Dazhong as one numpy record, the numbers of all moves, and the rules that are options.

Rules: the 2020 championship's, as published with the programs of Wang, Qiao, Liang and Xie, "Research on mahjong game
based on prior knowledge and Monte Carlo simulation", CAAI Transactions on Intelligent Systems 17(1), 2022, 69-78.
Kinds are those of suphx/games/mahjong without honours: 0-26. Counts have 34 places, so that its tables can be used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from suphx.games.mahjong.tile import kind_name
from suphx.kernel.record import I8, I16, I32, U8, field, record_dtype
from suphx.number_range import Checked

NUM_SEATS = 4
SEAT_NAMES = ("East", "South", "West", "North")
NUM_KINDS = 27
NUM_TILES = 108
HAND_TILES = 13
MAX_RIVER = 40
MAX_MOVES = 400
NO_KIND = NO_SEAT = -1

# phase: what the table waits for
EMPTY = 0  # a deal
START = 1  # the actor is ready after the deal: it may declare that (only with ting = "declared")
OWN_TURN = 2  # the actor has drawn, or claimed, and discards
CLAIM = 3  # the actor may claim the discard of ``turn``
ROB = 4  # the actor may rob the added kong of ``turn``
ENDED = 5  # nothing

# moves
DISCARD = 0  # + kind
TING = 27  # + kind: declare a ready hand and discard
KONG = 54  # + kind: concealed or added in one's own turn, or of a discard
CHOW = 81  # + lowest kind
PUNG = 108
WIN = 109
PASS = 110
DECLARE = 111  # a hand that is ready after the deal
NUM_ACTIONS = 112


class Table:
    """One hand between two decisions; no other state exists."""

    seed: int = field("i8")
    declares: int = field("i1")  # ting is declared; else a seat is marked as ready before each draw
    several_winners: int = field("i1")
    phase: int = field("i1")
    actor: int = field("i1")  # the seat that decides
    turn: int = field("i1")  # the seat whose turn it is: who discarded, or added to a pung
    dealer: int = field("i1")
    num_decisions: int = field("i4")
    wall: I16 = field("i2", NUM_TILES)  # tile ids, kind = id // 4; those of the deal come first
    wall_left: int = field("i2")  # tiles that are not drawn, the last ones of the wall
    hand: I8 = field("i1", NUM_SEATS, 34)  # concealed tiles by kind, the drawn one included
    drawn: int = field("i1")  # the kind that ``turn`` has drawn and not discarded yet, or NO_KIND
    claimed: int = field("i1")  # the kind that can be claimed or robbed, or NO_KIND
    took: int = field("i1")  # the kind that ``turn`` has claimed for this turn, or NO_KIND
    took_from: int = field("i1")
    answers: I16 = field("i2", NUM_SEATS)  # what each seat does with the discard: a move, or PASS
    num_melds: I8 = field("i1", NUM_SEATS)
    meld_type: I8 = field("i1", NUM_SEATS, 4)  # of suphx/games/mahjong/tile.py
    meld_kind: I8 = field("i1", NUM_SEATS, 4)  # the lowest one
    num_discards: I8 = field("i1", NUM_SEATS)
    river: I8 = field("i1", NUM_SEATS, MAX_RIVER)  # discards that nobody claimed, by kind
    shown: I8 = field("i1", 34)  # by kind: tiles of all rivers and melds
    ready: U8 = field("u1", NUM_SEATS)  # declared, or marked: such a hand is frozen
    legal: U8 = field("u1", NUM_ACTIONS)
    fan: I32 = field("i4", NUM_SEATS)  # payments so far; their sum is 0
    win_fan: I8 = field("i1", NUM_SEATS)  # of a winner's hand, else 0
    loser: int = field("i1")  # who discarded the tile of a win or added it to a pung, or NO_SEAT
    win_kind: int = field("i1")  # the tile of a win, or NO_KIND
    moves: U8 = field("u1", MAX_MOVES)  # all moves of the hand in order


TABLE = record_dtype(Table)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules(Checked):
    """The defaults are the championship's rules."""

    ting: Literal["declared", "paper"] = "declared"
    """``declared``: who is ready may declare it and is paid for that. ``paper``: as in the simulator of the paper, a
    seat is marked as ready before each draw if it is, whether it wants or not, and nobody pays for that."""
    winners: Literal["all", "first"] = "all"
    """Who wins on one tile that several want: all of them, or the first one in turn order."""


_WORDS = {PUNG: "pung", WIN: "win", PASS: "pass", DECLARE: "ting"}


def move_text(move: int) -> str:
    """Return a move as people write it: ``5m``, ``ting 5m``, ``kong 5m``, ``chow 345m``, ``pung``, ``win``, ``pass``.

    ``ting`` alone declares a hand that is ready after the deal.
    """
    if not 0 <= move < NUM_ACTIONS:
        return str(move)
    if move in _WORDS:
        return _WORDS[move]
    first, kind = move // NUM_KINDS * NUM_KINDS, move % NUM_KINDS
    if first == CHOW:
        return f"chow {''.join(str(kind % 9 + rank) for rank in (1, 2, 3))}{kind_name(kind)[1]}"
    return {DISCARD: "", TING: "ting ", KONG: "kong "}[first] + kind_name(kind)


MOVES = {move_text(move): move for move in range(NUM_ACTIONS) if move < CHOW or move >= PUNG or move % 9 < 7}
"""Every move by its text; a chow does not begin with 8 or 9."""
