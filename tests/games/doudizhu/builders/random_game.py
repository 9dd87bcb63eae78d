"""A game in which random moves were made."""

from __future__ import annotations

import numpy as np

from suphx.games.doudizhu.engine.rules import Rules
from suphx.games.doudizhu.engine.simulator import Simulator


def after_moves(num_moves: int, seed: int) -> Simulator:
    """Return the deal ``seed`` after random moves; all of it if ``num_moves`` is large."""
    simulator, rng = Simulator(1, Rules()), np.random.default_rng(seed)
    simulator.reset([seed])
    for _ in range(num_moves):
        waiting = simulator.waiting()
        if waiting.size:
            offsets, legal = simulator.legal(waiting)
            simulator.advance(waiting, legal[rng.integers(offsets[:-1], offsets[1:])])
    return simulator
