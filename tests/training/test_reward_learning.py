from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from suphx.games.learning import LearningConfig
from suphx.games.riichi.archive.store import KyokuStore, write_store
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.features.game_progress import encode_game_progress
from suphx.games.riichi.names import DISCARD_HEAD
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.selfplay.table_group import TableGroup
from suphx.models.net_config import RewardPredictorConfig
from suphx.models.reward_predictor import REWARD_PREDICTOR_FILE, load_reward_predictor
from suphx.selfplay.rollouts.rollout import play_games
from suphx.training.config import RewardLearningConfig
from suphx.training.reward import GlobalReward
from suphx.training.reward_learning import (
    GameHistories,
    RewardLearning,
    RewardTrainer,
    calibration,
    compared_predictions,
    game_histories,
    game_losses,
    paid,
    predict_games,
    prefix_losses,
    validation_loss,
)
from suphx.training.trainer import StoppedError
from tests.models.random_nets import PREDICTION, PREDICTOR
from tests.selfplay.row_nets import RowAgent, policy_outputs
from tests.training.played_games import StopAfter, played_store


def test_the_loss_is_equation_4() -> None:
    """The mean over games of the mean over their prefixes of the squared error, written out word by word."""
    rng = np.random.default_rng(3)
    games, rewards = [rng.normal(size=length) for length in (11, 2, 7, 25)], rng.normal(size=4)
    predictions = torch.full((4, 25), torch.nan)  # nan behind the end of each game
    for row, game in zip(predictions, games, strict=True):
        row[: len(game)] = torch.from_numpy(game)
    loss = prefix_losses(predictions, torch.tensor([11, 2, 7, 25]), torch.from_numpy(rewards)).mean()
    expected = np.mean([np.mean((game - reward) ** 2) for game, reward in zip(games, rewards, strict=True)])
    np.testing.assert_allclose(float(loss), expected, rtol=1e-5)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> KyokuStore:
    return played_store(tmp_path_factory.mktemp("store"), 12)


def test_a_game_has_a_line_at_its_start_and_after_each_kyoku(store: KyokuStore) -> None:
    histories = game_histories(store)
    assert (len(histories), histories.num_left_out) == (12, 0)
    for number in range(12):
        game = store.games[number]
        kyokus = store.kyokus[game["first_kyoku"] : game["first_kyoku"] + game["num_kyoku"]]
        lines = histories.progress.take(histories.lines_of(np.array([number])))
        assert len(lines) == len(kyokus) + 1
        np.testing.assert_array_equal(lines.scores[:-1], kyokus["scores"])
        np.testing.assert_array_equal(lines.scores[-1], game["final_scores"])
        np.testing.assert_array_equal(lines.round_scores[1:], np.diff(lines.scores, axis=0))
        assert not lines.round_scores[0].any()
        np.testing.assert_array_equal(lines.kyoku[:-1], kyokus["kyoku"])
        np.testing.assert_array_equal(lines.kyotaku[:-1], kyokus["kyotaku"])
        assert lines.is_over.tolist() == [False] * len(kyokus) + [True]


def test_games_of_another_length_are_refused(tmp_path: Path) -> None:
    east_only = played_store(tmp_path / "east", 3, rules=replace(tenhou(), num_winds=1))
    with pytest.raises(ValueError, match=r"none of the 3 games .* is a hanchan"):
        game_histories(east_only)


def test_a_batch_has_all_seats_side_by_side(store: KyokuStore) -> None:
    histories = game_histories(store)
    games = np.array([7, 2])
    batch = histories.batch(games)
    assert batch.lengths.tolist() == [length for game in games for length in [histories.lengths[game]] * 4]
    for row, (game, seat) in enumerate((game, seat) for game in games for seat in range(4)):
        own = encode_game_progress(histories.progress.take(histories.lines_of(np.array([game]))))[:, seat]
        np.testing.assert_array_equal(batch.lines[row, : len(own)], own)
        assert not batch.lines[row, len(own) :].any()
        assert batch.placements[row] == histories.placements[game, seat]


def test_simulators_predict_what_those_who_learn_from_records_would(tmp_path: Path) -> None:
    """The same games, once as a table group tells how deals ended, once as they are stored."""
    encoder, num_games = find_encoder("mini"), 6
    group = TableGroup(LearningConfig(num_tables=num_games, learned=(DISCARD_HEAD,)), encoder, tenhou(), first_seed=0)
    reward = GlobalReward(PREDICTION, num_games)
    changes: dict[int, list[np.ndarray]] = defaultdict(list)
    while sum(game >= num_games for game in changes) < num_games:  # every table plays its second game
        ends = group.step([policy_outputs(observations) for observations in group.observe()]).ends
        for game, rewards in zip(ends.games.tolist(), reward(ends), strict=True):
            changes[game].append(rewards)
    write_store(
        play_games([RowAgent(encoder)], np.zeros((num_games, 4), np.int64), range(num_games), tenhou()), tmp_path
    )
    histories = game_histories(KyokuStore(tmp_path))
    for game in range(num_games):
        predictions = predict_games(PREDICTOR, histories, np.array([game]))
        np.testing.assert_allclose(np.stack(changes[game]), 200 * np.diff(predictions, axis=0), atol=0.2)


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
    predictor, progress = RewardTrainer(learning(histories, learning_rate=0.01, max_epochs=10), tmp_path).run()
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
    predictor, _ = RewardTrainer(learning(histories, max_epochs=1), tmp_path).run()
    ends = np.cumsum(histories.lengths[VALIDATION]) - 1
    rewards = paid(histories, VALIDATION, POINTS)
    for name in ("place_now", "place_and_kyoku"):
        predictions = compared_predictions(predictor, histories, TRAIN, VALIDATION)[name]
        np.testing.assert_allclose(predictions[ends], rewards[ends], atol=1e-9)


def test_the_checkpoint_has_the_best_weights(histories: GameHistories, tmp_path: Path) -> None:
    predictor, progress = RewardTrainer(learning(histories), tmp_path).run()
    loaded, header = load_reward_predictor(tmp_path / REWARD_PREDICTOR_FILE)
    assert (header.points, header.step) == (POINTS, progress.best_step)
    np.testing.assert_array_equal(
        predict_games(loaded, histories, VALIDATION), predict_games(predictor, histories, VALIDATION)
    )
    assert validation_loss(loaded, histories, VALIDATION) == pytest.approx(progress.best_loss, rel=1e-5)
    with pytest.raises(ValueError, match=r"trained under rules .tenhou-1., this run plays .tonpuu.: train again"):
        load_reward_predictor(tmp_path / REWARD_PREDICTOR_FILE, rules_version="tonpuu")
    with pytest.raises(ValueError, match=r"belongs to another training .*points was"):
        RewardTrainer(replace(learning(histories), points=(90.0, 45.0, 0.0, -135.0)), tmp_path)


@pytest.mark.parametrize("step", [3, 10, 24])
def test_a_training_stops_within_an_epoch_and_goes_on_there(
    histories: GameHistories, tmp_path: Path, step: int
) -> None:
    """The epochs have ten steps: the first stop is before any validation."""
    whole, expected = RewardTrainer(learning(histories), tmp_path / "whole").run()
    watch = StopAfter(step - 1)  # a stop is seen after the next step
    with pytest.raises(StoppedError, match=f"step {step}"):
        RewardTrainer(learning(histories, save_seconds=1000), tmp_path / "broken", watch=watch).run()
    assert watch.shares == pytest.approx([(number + 1) / 60 for number in range(step)])
    assert (tmp_path / "broken" / REWARD_PREDICTOR_FILE).exists() == (step >= 10)
    resumed, progress = RewardTrainer(learning(histories), tmp_path / "broken").run()
    losses = [[entry["train_loss"] for entry in each.history] for each in (progress, expected)]
    assert losses[0] == losses[1]
    np.testing.assert_array_equal(
        predict_games(whole, histories, VALIDATION), predict_games(resumed, histories, VALIDATION)
    )
