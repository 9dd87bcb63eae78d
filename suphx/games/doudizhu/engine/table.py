"""The state of one game as one numpy record: ``np.zeros(n, TABLE)`` is n tables.

Seats in the order of turns: 0 the landlord, 1 the peasant after it (landlord_down), 2 the one before it (landlord_up).
Moves are rows of the table of moves. Cards are packed (cards/card.py).
"""

from __future__ import annotations

from suphx.kernel.record import I8, I32, I64, field, record_dtype

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
