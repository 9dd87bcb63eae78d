from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from suphx.games.head_game import GroupConfig
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.features.game_progress import encode_game_progress
from suphx.games.riichi.features.head import DISCARD_HEAD
from suphx.games.riichi.records.archive.store import KyokuStore, StoreWriter
from suphx.games.riichi.selfplay.table_group import TableGroup
from suphx.games.riichi.table.rules import tenhou
from suphx.selfplay.rollouts.rollout import play_games
from suphx.training.reward.game_history import game_histories
from suphx.training.reward.global_reward import GlobalReward
from suphx.training.reward.reward_learning import predict_games
from tests.models.small_predictor import PREDICTION, PREDICTOR
from tests.selfplay.row_nets import RowAgent, policy_outputs
from tests.training.played_games import played_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> KyokuStore:
    return played_store(tmp_path_factory.mktemp("store"), 12)


def test_a_game_has_a_line_at_its_start_and_after_each_kyoku(store: KyokuStore) -> None:
    histories = game_histories(store)
    assert len(histories) == 12
    assert histories.num_left_out == 0
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
    group = TableGroup(GroupConfig(num_tables=num_games, heads=(DISCARD_HEAD,)), encoder, tenhou(), first_seed=0)
    reward = GlobalReward(PREDICTION, num_games)
    changes: dict[int, list[np.ndarray]] = defaultdict(list)
    while sum(game >= num_games for game in changes) < num_games:  # every table plays its second game
        ends = group.step([policy_outputs(observations) for observations in group.observe()]).kyokus
        for game, rewards in zip(ends.games.tolist(), reward(ends), strict=True):
            changes[game].append(rewards)
    with StoreWriter(tmp_path) as writer:
        for log in play_games([RowAgent(encoder)], np.zeros((num_games, 4), np.int64), range(num_games), tenhou()):
            writer.add(log)
    histories = game_histories(KyokuStore.open(tmp_path))
    for game in range(num_games):
        predictions = predict_games(PREDICTOR, histories, np.array([game]))
        np.testing.assert_allclose(np.stack(changes[game]), 200 * np.diff(predictions, axis=0), atol=0.2)


def test_games_of_another_length_are_left_out(tmp_path: Path) -> None:
    east_only = played_store(tmp_path / "east", 3, rules=replace(tenhou(), num_winds=1))
    with pytest.raises(ValueError, match=r"none of the 3 games .* is a hanchan"):
        game_histories(east_only)
