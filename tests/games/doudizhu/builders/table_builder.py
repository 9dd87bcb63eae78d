"""Tables with hands that a test names, and games with moves that a test names."""

from __future__ import annotations

import numpy as np

from suphx.games.doudizhu.cards.card import parse_cards
from suphx.games.doudizhu.engine.play import start, step
from suphx.games.doudizhu.engine.table import TABLE
from suphx.games.doudizhu.moves.move_table import Moves, find_move
from suphx.kernel.record import Records


def play_text(moves: Moves, hands: tuple[str, str, str], game: str = "") -> Records:
    """Return one table, TABLE records (1,), after the moves of ``game`` (texts with spaces between, none checked)."""
    tables = np.zeros(1, TABLE)
    tables["hands"] = [parse_cards(hand) for hand in hands]
    start(tables[0], moves)
    for text in game.split():
        step(tables[0], moves, find_move(moves, text))
    return tables
