"""What every game's learning tables must do."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from suphx.experience.observation import Observations, PolicyOutputs
from suphx.games.learning import LearningConfig
from suphx.games.registry import find_decisions, find_learning, load_game


def check_learning_tables(name: str) -> None:
    """Play with a game's learning tables, restore them, and play on with both."""
    learning, kinds, seats = find_learning(name), find_decisions(name), len(load_game(name).seat_names)
    encoder = learning.encoders[0]
    config = LearningConfig(num_tables=4, learned=tuple(range(len(kinds))), first_steps=40)
    tables, rng = learning.new_learning_tables(config, encoder, first_seed=1), np.random.default_rng(1)
    deals = decisions = 0
    while deals < 6 or decisions < 120:
        observed = tables.observe()
        for part in observed:
            assert part.masks.shape == (len(part), kinds[part.decision].num_choices)
            assert part.planes.shape[1] == learning.observation_bytes(encoder, part.decision)
        ended = tables.step([any_legal(part, rng) for part in observed])
        deals, decisions = deals + ended.num_deals, decisions + ended.num_decisions
        assert ended.num_games <= ended.num_deals
        assert ended.points.shape == (ended.num_deals, seats)
    other = learning.new_learning_tables(config, encoder, first_seed=99)
    other.restore(tables.state())
    check_same_course(tables, other)
    with pytest.raises(ValueError, match="nobody"):
        learning.new_learning_tables(config, "nobody", first_seed=1)


def check_same_course(tables: Any, other: Any) -> None:
    """Play on with two sets of tables until some hundred decisions were rewarded: all numbers must be the same."""
    rng, rewarded = np.random.default_rng(2), 0
    while rewarded < 400:
        observed, same = tables.observe(), other.observe()
        for mine, yours in zip(observed, same, strict=True):
            for each in fields(Observations):
                assert np.array_equal(getattr(mine, each.name), getattr(yours, each.name)), each.name
        outputs = [any_legal(part, rng) for part in observed]
        ends = [each.step(outputs) for each in (tables, other)]
        assert np.array_equal(ends[0].points, ends[1].points)
        for mine, yours in zip(*(ended.with_rewards(ended.points) for ended in ends), strict=True):
            rewarded += len(mine)
            for name, array in mine.arrays().items():
                assert np.array_equal(array, yours.arrays()[name]), name


def any_legal(part: Observations, rng: np.random.Generator) -> PolicyOutputs:
    """Answer any legal choice, and yes or no where that is asked."""
    outputs = PolicyOutputs.blank(len(part), 0)
    if part.masks.shape[1]:
        outputs.actions[:] = (part.masks * rng.random(part.masks.shape)).argmax(axis=1)
    else:
        outputs.scores[:] = rng.random(len(part))
        outputs.actions[:] = outputs.scores > 0.5
    return outputs
