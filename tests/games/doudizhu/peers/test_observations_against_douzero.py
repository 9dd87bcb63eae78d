"""What our nets see is what PyPI ``douzero``'s ``get_obs`` gives, number by number, in games of random moves."""

from __future__ import annotations

import numpy as np
import pytest

from suphx.games.doudizhu.engine.rules import Rules
from suphx.games.doudizhu.engine.simulator import Simulator
from suphx.games.doudizhu.features.columns import move_columns
from suphx.games.doudizhu.features.encoder import encode_states
from tests.games.doudizhu.peers.douzero_game import DouZeroGame

RULES = Rules(douzero_kickers=True)


def compare_observations(num_decisions: int, *, seed: int) -> None:
    """Play games at one table until so many observations were equal."""
    simulator, rng = Simulator(1, RULES), np.random.default_rng(seed)
    columns, only = move_columns(simulator.moves), np.zeros(1, np.int64)
    while num_decisions > 0:
        simulator.reset([int(rng.integers(2**40))])
        theirs = DouZeroGame(simulator.tables[0])
        while simulator.waiting().size and num_decisions > 0:
            offsets, legal = simulator.legal(only)
            states, history = encode_states(simulator.tables, simulator.moves, only, int(simulator.tables["actor"][0]))
            seen = theirs.observe()
            np.testing.assert_array_equal(states[0], seen["x_no_action"])
            np.testing.assert_array_equal(history[0], seen["z"])
            candidates = np.hstack([np.repeat(states, offsets[1], axis=0), columns[legal]])
            assert sorted(map(bytes, candidates)) == sorted({bytes(row) for row in seen["x_batch"].astype(np.uint8)})
            move = legal[rng.integers(len(legal))]
            theirs.play(int(simulator.moves.cards[move]))
            simulator.advance(only, legal[[np.flatnonzero(legal == move)[0]]])
            num_decisions -= 1


def test_observations_of_some_decisions_are_those_of_douzero() -> None:
    compare_observations(200, seed=1)


@pytest.mark.slow
def test_observations_of_10000_decisions_are_those_of_douzero() -> None:
    compare_observations(10_000, seed=2)
