from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suphx.games.candidate_game import F32, candidate_game
from suphx.games.doudizhu import Rules
from suphx.training.monte_carlo.monte_carlo_config import MonteCarloConfig
from suphx.training.monte_carlo.round_learner import RoundLearner, rate_of_round
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


def test_the_learning_rate_falls_linearly_and_stays() -> None:
    config = replace(CONFIG, learning_rate=1e-3, decay_rounds=4, last_rate_share=0.2)
    rates = [rate_of_round(config, number) for number in (0, 1, 2, 4, 5, 100)]
    assert rates == pytest.approx([1e-3, 8e-4, 6e-4, 2e-4, 2e-4, 2e-4])
    assert rate_of_round(replace(config, decay_rounds=0), 100) == 1e-3


def test_rounds_are_learned_at_their_rate_also_after_a_resume() -> None:
    config = replace(CONFIG, decay_rounds=2, last_rate_share=0.5)
    learner = RoundLearner(config, GAME)
    learn(learner, config, 2)
    assert learner.optimizer.param_groups[0]["lr"] == pytest.approx(0.75 * config.learning_rate)  # of the second round
    resumed = RoundLearner(config, GAME)
    resumed.restore(learner.state(), learner.num_rounds)
    (after,) = learn(resumed, config, 1)
    assert resumed.optimizer.param_groups[0]["lr"] == pytest.approx(0.5 * config.learning_rate)
    (expected,) = learn(learner, config, 1)
    assert all(np.array_equal(after[name], expected[name]) for name in expected)


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
