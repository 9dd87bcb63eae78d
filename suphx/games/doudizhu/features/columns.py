"""The columns of DouZero's observations: 319 for the landlord, 430 for a peasant, 54 for each card set.

Cards are 54 columns: four for each rank from 3 to 2, of which the first *count* are 1, then the two jokers.
"""

from __future__ import annotations

import numpy as np

from suphx.games.doudizhu.cards.card import NUM_CARDS, counts_of
from suphx.games.doudizhu.engine.table import LANDLORD
from suphx.games.doudizhu.moves.move_table import Moves
from suphx.kernel.record import U8

CARD_COLUMNS = NUM_CARDS
NUM_BOMB_COLUMNS = 15
LANDLORD_CARDS, PEASANT_CARDS = 20, 17  # most that a seat can have

LANDLORD_PARTS = {
    "own hand": CARD_COLUMNS,
    "hands of the others": CARD_COLUMNS,
    "move to beat": CARD_COLUMNS,
    "played by landlord_up": CARD_COLUMNS,
    "played by landlord_down": CARD_COLUMNS,
    "cards left of landlord_up": PEASANT_CARDS,
    "cards left of landlord_down": PEASANT_CARDS,
    "bombs": NUM_BOMB_COLUMNS,
}
"""Columns of each part of the landlord's state, in order."""
PEASANT_PARTS = {
    "own hand": CARD_COLUMNS,
    "hands of the others": CARD_COLUMNS,
    "played by the landlord": CARD_COLUMNS,
    "played by the teammate": CARD_COLUMNS,
    "move to beat": CARD_COLUMNS,
    "last move of the landlord": CARD_COLUMNS,
    "last move of the teammate": CARD_COLUMNS,
    "cards left of the landlord": LANDLORD_CARDS,
    "cards left of the teammate": PEASANT_CARDS,
    "bombs": NUM_BOMB_COLUMNS,
}
"""The same for either peasant."""
LANDLORD_COLUMNS = sum(LANDLORD_PARTS.values())
PEASANT_COLUMNS = sum(PEASANT_PARTS.values())

HISTORY_ROUNDS, MOVES_A_ROUND = 5, 3
HISTORY_SHAPE = (HISTORY_ROUNDS, MOVES_A_ROUND * CARD_COLUMNS)
"""The last 15 moves, the oldest first, three in a row; zeros stand before the first move of a game, and for a pass."""


def num_state_columns(seat: int) -> int:
    """Return the number of columns of the state of ``seat``."""
    return LANDLORD_COLUMNS if seat == LANDLORD else PEASANT_COLUMNS


def move_columns(moves: Moves) -> U8:
    """Return uint8 [rows, 54]: the columns of every move of the table, for a net that gathers its candidates."""
    counts = counts_of(moves.cards)
    thermometer = counts[:, :13, None] > np.arange(4)
    return np.concatenate([thermometer.reshape(len(counts), -1), counts[:, 13:] > 0], axis=1).astype(np.uint8)
