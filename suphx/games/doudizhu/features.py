"""The state of a game as its actor sees it, in columns (features.py). Nothing hidden is in them."""

from __future__ import annotations

import numpy as np

from suphx.games.doudizhu.cards import NUM_CARDS, count_cards, count_rank, counts_of
from suphx.games.doudizhu.moves import Moves
from suphx.games.doudizhu.table import LANDLORD, LANDLORD_DOWN, LANDLORD_UP, NUM_SEATS, PLAYING, Table
from suphx.kernel.jit import jit
from suphx.kernel.record import I64, U8, Records

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


_NUM_HISTORY = HISTORY_ROUNDS * MOVES_A_ROUND


def encode_rows(tables: Records, moves: Moves, indices: I64, seat: int) -> U8:
    """Return state and last moves of the tables ``indices`` side by side, uint8 [n, 1,129 or 1,240].

    ``seat`` is to move at all of them; ValueError if it is not.
    """
    waits = (tables["phase"][indices] == PLAYING) & (tables["actor"][indices] == seat)
    if not waits.all():
        raise ValueError(f"table {indices[~waits][0]} does not wait for a move of seat {seat}")
    rows = np.zeros((len(indices), num_state_columns(seat) + _NUM_HISTORY * CARD_COLUMNS), np.uint8)
    _encode(tables, moves, indices, num_state_columns(seat), rows)
    return rows


@jit
def _encode(tables: Records, m: Moves, indices: I64, num_state: int, rows: U8) -> None:
    for i in range(len(indices)):
        t = tables[indices[i]]
        if t.actor == LANDLORD:
            encode_landlord(t, m, rows[i])
        else:
            encode_peasant(t, m, rows[i])
        encode_history(t, m, rows[i], num_state)


@jit
def encode_landlord(t: Table, m: Moves, row: U8) -> None:
    """Fill the zeros of the first 319 columns of ``row`` with what the landlord sees."""
    at = _add_cards(t.hands[LANDLORD], row, 0)
    at = _add_cards(t.hands[LANDLORD_DOWN] + t.hands[LANDLORD_UP], row, at)
    at = _add_cards(m.cards[t.to_beat], row, at)
    at = _add_cards(t.played[LANDLORD_UP], row, at)
    at = _add_cards(t.played[LANDLORD_DOWN], row, at)
    at = _add_number(count_cards(t.hands[LANDLORD_UP]) - 1, PEASANT_CARDS, row, at)
    at = _add_number(count_cards(t.hands[LANDLORD_DOWN]) - 1, PEASANT_CARDS, row, at)
    row[at + t.num_bombs] = 1


@jit
def encode_peasant(t: Table, m: Moves, row: U8) -> None:
    """Fill the zeros of the first 430 columns of ``row`` with what the peasant to move sees."""
    teammate = NUM_SEATS - t.actor
    at = _add_cards(t.hands[t.actor], row, 0)
    at = _add_cards(t.hands[LANDLORD] + t.hands[teammate], row, at)
    at = _add_cards(t.played[LANDLORD], row, at)
    at = _add_cards(t.played[teammate], row, at)
    at = _add_cards(m.cards[t.to_beat], row, at)
    at = _add_cards(_last_cards(t, m, LANDLORD), row, at)
    at = _add_cards(_last_cards(t, m, teammate), row, at)
    at = _add_number(count_cards(t.hands[LANDLORD]) - 1, LANDLORD_CARDS, row, at)
    at = _add_number(count_cards(t.hands[teammate]) - 1, PEASANT_CARDS, row, at)
    row[at + t.num_bombs] = 1


@jit
def encode_history(t: Table, m: Moves, row: U8, at: int) -> None:
    """Fill the zeros of ``row`` from ``at`` on with the last 15 moves, 54 columns each."""
    first = t.num_moves - _NUM_HISTORY
    for i in range(max(0, -first), _NUM_HISTORY):
        _add_cards(m.cards[t.moves[first + i]], row, at + i * CARD_COLUMNS)


@jit
def _last_cards(t: Table, m: Moves, seat: int) -> int:
    return m.cards[t.last_moves[seat]] if t.last_moves[seat] >= 0 else 0


@jit
def _add_cards(cards: int, row: U8, at: int) -> int:
    """Write packed cards into 54 columns from ``at`` on; return where they end."""
    for rank in range(13):
        for i in range(count_rank(cards, rank)):
            row[at + 4 * rank + i] = 1
    row[at + 52] = count_rank(cards, 13)
    row[at + 53] = count_rank(cards, 14)
    return at + CARD_COLUMNS


@jit
def _add_number(number: int, width: int, row: U8, at: int) -> int:
    """Mark one of ``width`` columns from ``at`` on; return where they end."""
    row[at + number] = 1
    return at + width
