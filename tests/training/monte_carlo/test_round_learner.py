from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suphx.games.candidate_game import F32, candidate_game
from suphx.games.doudizhu import Rules
from suphx.training.monte_carlo.monte_carlo_config import MonteCarloConfig
from suphx.training.monte_carlo.round_learner import RoundLearner
from suphx.training.monte_carlo.round_player import RoundPlayer

GAME = candidate_game("doudizhu")
CONFIG = MonteCarloConfig(games=2, batches=1, average_rounds=3, precision="fp32", threads=1)


def learn(learner: RoundLearner, config: MonteCarloConfig, count: int) -> list[dict[str, F32]]:
    """Learn from ``count`` rounds that the nets play; return the weights after each."""
    player = RoundPlayer(config, GAME, Rules(), learner.nets, is_bf16=False)
    after = []
    for _ in range(count):
        learner.learn(player.play(learner.num_rounds))
        after.append(learner.weights())
    return after


def assert_equal(found: dict[str, F32], expected: dict[str, F32]) -> None:
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, atol=1e-6)


def test_averaged_weights_are_the_mean_of_the_first_rounds_then_move_by_a_fixed_share() -> None:
    learner = RoundLearner(CONFIG, GAME)
    first = learn(learner, CONFIG, 3)
    mean = {name: np.mean([weights[name] for weights in first], axis=0) for name in first[0]}
    assert any(np.abs(mean[name] - first[-1][name]).max() > 1e-4 for name in mean)
    assert_equal(learner.averaged_weights(), mean)
    (newest,) = learn(learner, CONFIG, 1)
    assert_equal(learner.averaged_weights(), {name: mean[name] + (newest[name] - mean[name]) / 3 for name in mean})
    assert_equal(learner.weights(), newest)


def test_before_the_first_round_and_without_averages_they_are_the_weights() -> None:
    learner = RoundLearner(CONFIG, GAME)
    assert_equal(learner.averaged_weights(), learner.weights())
    plain = RoundLearner(replace(CONFIG, average_rounds=0), GAME)
    (newest,) = learn(plain, CONFIG, 1)
    assert_equal(plain.averaged_weights(), newest)


def test_averages_do_not_change_what_is_learned() -> None:
    with_averages, without = (RoundLearner(replace(CONFIG, average_rounds=rounds), GAME) for rounds in (3, 0))
    for one, other in zip(learn(with_averages, CONFIG, 2), learn(without, CONFIG, 2), strict=True):
        assert all(np.array_equal(one[name], other[name]) for name in one)


def test_averages_are_part_of_the_state() -> None:
    whole, first = (RoundLearner(CONFIG, GAME) for _ in range(2))
    learn(whole, CONFIG, 4)
    learn(first, CONFIG, 2)
    resumed = RoundLearner(CONFIG, GAME)
    resumed.restore(first.state(), first.num_rounds)
    learn(resumed, CONFIG, 2)
    expected = whole.averaged_weights()
    assert all(np.array_equal(array, expected[name]) for name, array in resumed.averaged_weights().items())


@pytest.mark.parametrize(("before", "after"), [(3, 0), (0, 3)])
def test_a_training_may_resume_with_averages_or_without(before: int, after: int) -> None:
    first = RoundLearner(replace(CONFIG, average_rounds=before), GAME)
    learn(first, CONFIG, 2)
    resumed = RoundLearner(replace(CONFIG, average_rounds=after), GAME)
    resumed.restore(first.state(), first.num_rounds)
    assert_equal(resumed.averaged_weights(), first.weights())
    assert not [name for name in resumed.tensors() if name.endswith(".average")]
    learn(resumed, CONFIG, 1)
    assert bool([name for name in resumed.tensors() if name.endswith(".average")]) == bool(after)
