"""Deals that nets play to their end, at all seats, many side by side."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from suphx.games.riichi.features.encoder import Encoder
from suphx.games.riichi.hand.suit_table import load_suits
from suphx.games.riichi.selfplay.decision import (
    NO_KEEP_PROBABILITIES,
    UNDECIDED,
    Forward,
    decide,
    play_to_observation,
)
from suphx.games.riichi.table.table import KYOKU_END
from suphx.kernel.record import I16, Records


def play_to_end(
    tables: Records,
    encoder: Encoder,
    forward: Forward,
    *,
    first_actions: I16 | None = None,
    keep_probabilities: Mapping[int, float] = NO_KEEP_PROBABILITIES,
    num_tables: int = 1024,
) -> None:
    """Play every one of ``tables`` [n] in place until KYOKU_END, as ``decide`` does with these arguments.

    ``forward`` gets lines that count within ``tables``. ``first_actions`` int16 [n]: what is done before a net is
    asked; UNDECIDED: nothing. At most ``num_tables`` are under way at a time; when one ends, the next one begins. What
    happens at a table does not depend on the others.
    """
    suits = load_suits()
    first_actions = np.full(len(tables), UNDECIDED, np.int16) if first_actions is None else first_actions
    live, actions = np.zeros(0, np.int64), np.zeros(0, np.int16)
    begun = 0
    while live.size or begun < len(tables):
        new = np.arange(begun, min(len(tables), begun + num_tables - live.size))
        begun += new.size
        live = np.concatenate([live, new])
        play_to_observation(tables, suits, live, np.concatenate([actions, first_actions[new]]))
        live = live[tables["phase"][live] != KYOKU_END]
        actions = decide(tables, live, encoder, forward, keep_probabilities)
