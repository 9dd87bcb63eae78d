"""The state of one game of MCR as one numpy record, the names of tiles and moves, and the rules that are options.

Rules: the duplicate format of Botzone's *Chinese-Standard-Mahjong*, as its published referee plays it (docs/mcr.md).
Kinds are those of suphx/games/mahjong. The game names them otherwise: its bamboo is T, its dots are B, and its dragons
have the order red, green, white.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from suphx.games.mahjong.tile import CHUN, EAST, HAKU, HATSU, NORTH, SOUTH, WEST
from suphx.kernel.record import I8, I16, I32, U8, field, record_dtype
from suphx.number_range import Checked, Range

NUM_SEATS = 4
SEAT_NAMES = ("East", "South", "West", "North")
NUM_KINDS = 34
NUM_TILES = 136
WALL_TILES = 34
"""Of each seat's own wall, its hand included."""
HAND_TILES = 13
MAX_RIVER = 26
"""21 draws and 4 claims are followed by a discard each."""
MAX_MOVES = 600
NO_KIND = NO_SEAT = -1

# phase: what the table waits for
EMPTY = 0  # a deal
OWN_TURN = 1  # the actor has drawn or claimed, and discards
CLAIM = 2  # the actor may claim the discard of ``turn``
ROB = 3  # the actor may rob the added kong of ``turn``
ENDED = 4  # nothing

# moves
DISCARD = 0  # + kind
KONG = 34  # + kind: concealed or added in one's own turn, or of a discard
CHOW = 68  # + lowest kind
PUNG = 95
WIN = 96
PASS = 97
NUM_ACTIONS = 98


class Table:
    """One game between two decisions; no other state exists."""

    seed: int = field("i8")
    options: int = field("i1")  # of the fan calculator, bits of fans.py
    minimum_fan: int = field("i2")
    round_wind: int = field("i1")  # 0 to 3, east to north
    phase: int = field("i1")
    actor: int = field("i1")  # the seat that decides
    turn: int = field("i1")  # the seat whose turn it is: who discarded, or added to a pung
    num_decisions: int = field("i4")
    wall: I16 = field("i2", NUM_TILES)  # tile ids, kind = id // 4; seat s owns 34 s to 34 s + 33 and begins at the end
    wall_left: I8 = field("i1", NUM_SEATS)  # tiles that each seat has not drawn, the first ones of its wall
    hand: I8 = field("i1", NUM_SEATS, 34)  # concealed tiles by kind, the drawn one included
    drawn: int = field("i1")  # the kind that ``turn`` has drawn and not discarded yet, or NO_KIND
    after_kong: int = field("i1")  # the drawn tile replaces a kong
    kong_declined: int = field("i1")  # the actor has chosen to declare none of its kongs and discards; no rule
    claimed: int = field("i1")  # the kind that can be claimed or robbed, or NO_KIND
    answers: I16 = field("i2", NUM_SEATS)  # what each seat does with that tile: a move, or PASS
    num_melds: I8 = field("i1", NUM_SEATS)
    meld_type: I8 = field("i1", NUM_SEATS, 4)  # of suphx/games/mahjong/tile.py
    meld_kind: I8 = field("i1", NUM_SEATS, 4)  # the lowest one
    num_discards: I8 = field("i1", NUM_SEATS)
    river: I8 = field("i1", NUM_SEATS, MAX_RIVER)  # all discards by kind, also those that were claimed
    is_taken: U8 = field("u1", NUM_SEATS, MAX_RIVER)  # a discard was claimed
    shown: I8 = field("i1", 34)  # by kind: what all see beside ``claimed``: no concealed kongs
    legal: U8 = field("u1", NUM_ACTIONS)
    score: I32 = field("i4", NUM_SEATS)
    winner: int = field("i1")
    win_fan: int = field("i2")
    win_kind: int = field("i1")  # the tile of a win, or NO_KIND
    win_circumstances: int = field("i1")
    loser: int = field("i1")  # who discarded the tile of a win or added it to a pung, or NO_SEAT
    offender: int = field("i1")  # whose illegal reply ended the game, or NO_SEAT
    moves: U8 = field("u1", MAX_MOVES)  # all moves of the game in order


TABLE = record_dtype(Table)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules(Checked):
    """The defaults are those of Botzone's referee."""

    knitted_straight_waits: Literal["2018", "2024"] = "2018"
    """When a hand with a knitted straight counts an edge, closed or single wait. ``2018``: not if the winning tile is
    one of the nine knitted kinds. ``2024``: also if it can be read as the tile that completes the rest."""
    mixed_kongs: bool = True
    """An open and a concealed kong count 5 fan together, else 1 + 2."""
    minimum_fan: Annotated[int, Range(0, 88)] = 8
    """What a hand must have to win."""


_SUITS = {"W": 0, "B": 9, "T": 18}
KIND_OF_NAME = {
    **{f"{suit}{rank}": first + rank - 1 for suit, first in _SUITS.items() for rank in range(1, 10)},
    **{f"F{number}": kind for number, kind in enumerate((EAST, SOUTH, WEST, NORTH), 1)},
    **{f"J{number}": kind for number, kind in enumerate((CHUN, HATSU, HAKU), 1)},
}
"""Kinds by the names of the game: ``W1`` characters, ``T1`` bamboo, ``B1`` dots, ``F1`` east, ``J1`` red dragon."""
KIND_NAMES = tuple(sorted(KIND_OF_NAME, key=KIND_OF_NAME.__getitem__))
NAME_ORDER = tuple(KIND_OF_NAME[name] for name in sorted(KIND_OF_NAME, key=lambda name: ("WTBFJ".index(name[0]), name)))
"""All kinds in the order of the game: W, T, B, F, J."""

_WORDS = {PUNG: "pung", WIN: "win", PASS: "pass"}


def move_text(move: int) -> str:
    """Return a move as people write it: ``W5``, ``kong W5``, ``chow W4`` (its middle), ``pung``, ``win``, ``pass``."""
    if not 0 <= move < NUM_ACTIONS:
        return str(move)
    if move in _WORDS:
        return _WORDS[move]
    if move >= CHOW:
        return f"chow {KIND_NAMES[move - CHOW + 1]}"
    return KIND_NAMES[move] if move < KONG else f"kong {KIND_NAMES[move - KONG]}"


MOVES = {move_text(move): move for move in range(NUM_ACTIONS) if move < CHOW or move >= PUNG or (move - CHOW) % 9 < 7}
"""Every move by its text; a chow does not begin with 8 or 9."""
