from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from suphx.models.checkpoints.checkpoint import REWARD_PREDICTOR_FILE, load_reward_predictor
from suphx.models.nets.net_config import RewardPredictorConfig
from suphx.training.loop.training_watch import StoppedError, TrainingWatch
from suphx.training.reward.game_history import GameHistories, game_histories
from suphx.training.reward.reward_comparison import calibration, compared_predictions, game_losses, paid
from suphx.training.reward.reward_learning import RewardLearning, learn_rewards, predict_games, validation_loss
from suphx.training.reward.reward_learning_config import RewardLearningConfig
from tests.training.played_games import played_store

POINTS = (75.0, 30.0, 0.0, -150.0)
TRAIN, VALIDATION = np.arange(100), np.arange(100, 150)


@pytest.fixture(scope="module")
def histories(tmp_path_factory: pytest.TempPathFactory) -> GameHistories:
    return game_histories(played_store(tmp_path_factory.mktemp("store"), 150))


def learning(histories: GameHistories, **config: float) -> RewardLearning:
    settings = {"batch_games": 10, "max_epochs": 6, "warmup_steps": 5, "save_seconds": 0, **config}
    return RewardLearning(
        histories=histories,
        train=TRAIN,
        validation=VALIDATION,
        points=POINTS,
        net=RewardPredictorConfig(gru_units=16, hidden_units=8),
        config=RewardLearningConfig(**settings),  # type: ignore[arg-type]
        digest="games",
        rules_version="tenhou-1",
    )


def test_it_learns_more_than_the_mean(histories: GameHistories, tmp_path: Path) -> None:
    predictor, progress = learn_rewards(learning(histories, learning_rate=0.01, max_epochs=10), tmp_path)
    predictions = compared_predictions(predictor, histories, TRAIN, VALIDATION)
    rewards, lengths = paid(histories, VALIDATION, POINTS), histories.lengths[VALIDATION]
    losses = {name: float(game_losses(p, rewards, lengths).mean()) for name, p in predictions.items()}
    assert losses["net"] < losses["mean"]
    np.testing.assert_allclose(losses["mean"], np.var(POINTS), rtol=1e-6)
    assert losses["net"] == pytest.approx(progress.best_loss, rel=1e-4)
    groups = calibration(predictions["net"], rewards)
    assert sum(group[2] for group in groups) == rewards.size
    assert [group[0] for group in groups] == sorted(group[0] for group in groups)
    np.testing.assert_allclose(sum(p * n for _, p, n in groups) / rewards.size, np.mean(POINTS))


def test_at_the_end_the_place_now_is_what_is_paid(histories: GameHistories, tmp_path: Path) -> None:
    predictor, _ = learn_rewards(learning(histories, max_epochs=1), tmp_path)
    ends = np.cumsum(histories.lengths[VALIDATION]) - 1
    rewards = paid(histories, VALIDATION, POINTS)
    for name in ("place_now", "place_and_kyoku"):
        predictions = compared_predictions(predictor, histories, TRAIN, VALIDATION)[name]
        np.testing.assert_allclose(predictions[ends], rewards[ends], atol=1e-9)


def test_the_checkpoint_has_the_best_weights(histories: GameHistories, tmp_path: Path) -> None:
    predictor, progress = learn_rewards(learning(histories), tmp_path)
    loaded, header = load_reward_predictor(tmp_path / REWARD_PREDICTOR_FILE)
    assert (header.points, header.step) == (POINTS, progress.best_step)
    np.testing.assert_array_equal(
        predict_games(loaded, histories, VALIDATION), predict_games(predictor, histories, VALIDATION)
    )
    assert validation_loss(loaded, histories, VALIDATION) == pytest.approx(progress.best_loss, rel=1e-5)


def test_a_stopped_training_ends_with_the_numbers_of_an_unbroken_one(histories: GameHistories, tmp_path: Path) -> None:
    whole, _ = learn_rewards(learning(histories), tmp_path / "whole")

    class KilledError(Exception):
        pass

    def kill(step: int) -> None:
        if step == 30:
            raise KilledError

    with pytest.raises(KilledError):
        learn_rewards(learning(histories), tmp_path / "broken", keep=kill)
    resumed, progress = learn_rewards(learning(histories), tmp_path / "broken")
    assert progress.step == 60
    np.testing.assert_array_equal(
        predict_games(whole, histories, VALIDATION), predict_games(resumed, histories, VALIDATION)
    )
    other = replace(learning(histories), points=(90.0, 45.0, 0.0, -135.0))
    with pytest.raises(ValueError, match=r"belongs to another training .*points was"):
        learn_rewards(other, tmp_path / "broken")


class StopAt(TrainingWatch):
    """Wants the training to stop at a step; notes how far it was."""

    def __init__(self, step: int) -> None:
        self.step, self.shares = step, list[float]()

    def progress(self, share_done: float) -> None:
        self.shares.append(share_done)

    def is_stopping(self) -> bool:
        return len(self.shares) == self.step


@pytest.mark.parametrize("step", [3, 10, 24])
def test_a_training_stops_within_an_epoch_and_goes_on_there(
    histories: GameHistories, tmp_path: Path, step: int
) -> None:
    """The epochs have ten steps: the first stop is before any validation."""
    whole, expected = learn_rewards(learning(histories), tmp_path / "whole")
    watch = StopAt(step)
    with pytest.raises(StoppedError, match=f"step {step}"):
        learn_rewards(learning(histories, save_seconds=1000), tmp_path / "broken", watch=watch)
    assert watch.shares == pytest.approx([(number + 1) / 60 for number in range(step)])
    assert (tmp_path / "broken" / REWARD_PREDICTOR_FILE).exists() == (step >= 10)
    resumed, progress = learn_rewards(learning(histories), tmp_path / "broken")
    losses = [[entry["train_loss"] for entry in each.history] for each in (progress, expected)]
    assert losses[0] == losses[1]
    np.testing.assert_array_equal(
        predict_games(whole, histories, VALIDATION), predict_games(resumed, histories, VALIDATION)
    )


def test_a_limit_of_minutes_ends_the_training_within_an_epoch(histories: GameHistories, tmp_path: Path) -> None:
    limited = learning(histories, max_minutes=1e-6)
    _, progress = learn_rewards(limited, tmp_path)
    assert (progress.step, len(progress.history), progress.best_step) == (1, 1, 1)
    _, again = learn_rewards(limited, tmp_path)
    assert again.step == 1


def test_a_file_that_is_no_predictor_is_refused(histories: GameHistories, tmp_path: Path) -> None:
    learn_rewards(learning(histories, max_epochs=1), tmp_path)
    path = tmp_path / REWARD_PREDICTOR_FILE
    with pytest.raises(ValueError, match="is a training state"):
        load_reward_predictor(tmp_path / "training_state.safetensors")
    os.truncate(path, path.stat().st_size - 100)
    with pytest.raises(ValueError, match="is damaged"):
        load_reward_predictor(path)
    with pytest.raises(FileNotFoundError, match="train first"):
        load_reward_predictor(tmp_path / "none.safetensors")


def test_a_predictor_that_has_learned_other_rules_is_refused(histories: GameHistories, tmp_path: Path) -> None:
    learn_rewards(learning(histories, max_epochs=1), tmp_path)
    path = tmp_path / REWARD_PREDICTOR_FILE
    load_reward_predictor(path, rules_version="tenhou-1")
    with pytest.raises(ValueError, match=r"trained under rules .tenhou-1., this run plays .tonpuu.: train again"):
        load_reward_predictor(path, rules_version="tonpuu")


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="max_epochs is 0: use at least 1"):
        RewardLearningConfig(max_epochs=0)
    with pytest.raises(ValueError, match="learning_rate is 2"):
        RewardLearningConfig(learning_rate=2)
    with pytest.raises(ValueError, match="final_learning_rate_factor is -1: use 0 to 1"):
        RewardLearningConfig(final_learning_rate_factor=-1)
    with pytest.raises(ValueError, match="threads is -1: use 0 or more"):
        RewardLearningConfig(threads=-1)
