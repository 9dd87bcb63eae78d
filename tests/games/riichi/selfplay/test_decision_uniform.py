from __future__ import annotations

import numpy as np

from suphx.experience.sampling_uniform import observation_number, uniform_of
from suphx.games.riichi.features.head import HEAD_NAMES
from suphx.games.riichi.selfplay.decision_uniform import fill_mask_seeds
from suphx.games.riichi.table.action import NUM_ACTIONS
from suphx.games.riichi.table.table import TABLE


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
