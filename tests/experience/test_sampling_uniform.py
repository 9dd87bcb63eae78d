from __future__ import annotations

import numpy as np

from suphx.experience.sampling_uniform import fill_mask_seeds, observation_number, uniform_of
from suphx.games.riichi.features.head import HEAD_NAMES
from suphx.games.riichi.table.action import NUM_ACTIONS
from suphx.games.riichi.table.table import TABLE


def test_uniforms_are_spread_evenly_and_differ_by_every_argument() -> None:
    uniforms = np.array([uniform_of(2**60 + game, decision, 0) for game in range(50) for decision in range(200)])
    assert abs(uniforms.mean() - 0.5) < 0.01
    assert len(set(uniforms.tolist())) > 9_980
    assert abs(np.corrcoef(uniforms[:-1], uniforms[1:])[0, 1]) < 0.03
    assert (
        len(
            {
                uniform_of(7, 1, 2),
                uniform_of(8, 1, 2),
                uniform_of(7, 2, 2),
                uniform_of(7, 1, 3),
                uniform_of(2**40, 1, 2),
            }
        )
        == 5
    )


def test_every_observation_of_a_decision_has_a_mask_and_a_uniform_of_its_own() -> None:
    tables = np.zeros(1, TABLE)
    tables["wall_seed"] = 9
    candidates = np.arange(-1, NUM_ACTIONS)
    numbers: set[float] = set()
    for head in range(len(HEAD_NAMES)):
        seeds = np.zeros(len(candidates), np.int64)
        fill_mask_seeds(tables, np.zeros(len(candidates), np.int64), candidates, head, seeds)
        numbers |= set((seeds / 2**24).tolist())
        numbers |= {uniform_of(9, 1, observation_number(head, int(candidate))) for candidate in candidates}
    assert len(numbers) == 2 * len(HEAD_NAMES) * len(candidates)
