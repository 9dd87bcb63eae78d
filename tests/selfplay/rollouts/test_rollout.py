from __future__ import annotations

import numpy as np
import pytest

from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.replay import Replayer
from suphx.games.riichi.rules import tenhou, tonpuu
from suphx.games.riichi.tables import ScriptedAgent
from suphx.selfplay.rollouts.rollout import play_games

UKEIRE, RANDOM = ScriptedAgent("ukeire"), ScriptedAgent("random")
SEATING = np.array([[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0], [0, 0, 0, 0]])
SEEDS = [5, 5, 5, 6, 5]


def play(num_tables: int) -> list[GameLog]:
    return list(play_games([UKEIRE, RANDOM], SEATING, SEEDS, tenhou(), num_tables=num_tables))


def test_games_come_in_the_order_of_the_seating_and_replay_without_difference() -> None:
    logs = play(256)
    assert [log.id for log in logs] == ["5-0", "5-1", "5-2", "6-3", "5-4"]
    assert logs[1].names == ("random", "ukeire", "random", "random")
    assert logs[4].names == ("ukeire",) * 4
    replayer = Replayer()
    assert all(replayer.replay(log) == [] for log in logs)
    (other,) = play_games([RANDOM], np.zeros((1, 4), int), [1], tonpuu())
    assert other.rules == tonpuu()


@pytest.mark.parametrize(
    ("seating", "message"),
    [
        (np.zeros((1, 3), int), r"seating has the shape \(1, 3\) for 1 seeds: give 4 agents for each"),
        (np.full((1, 4), 1), "there are only 1"),
        (np.full((1, 4), -1), "there are only 1"),
    ],
)
def test_a_seating_that_does_not_fit_is_refused(seating: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(play_games([RANDOM], seating, [1], tenhou()))


@pytest.mark.parametrize("num_tables", [1, 2])
def test_the_number_of_tables_does_not_change_games(num_tables: int) -> None:
    for log, same in zip(play(num_tables), play(256), strict=True):
        assert log.id == same.id
        assert log.final_scores == same.final_scores
        assert [kyoku.moves.tolist() for kyoku in log.kyokus] == [kyoku.moves.tolist() for kyoku in same.kyokus]


def test_rotations_of_a_seed_share_the_wall_of_each_kyoku_and_honba() -> None:
    seating = np.array([np.roll([0, 1, 0, 1], rotation) for rotation in range(2)] + [[0] * 4, [0, 0, 0, 1]])
    walls: dict[tuple[int, int], set[bytes]] = {}
    numbers: dict[tuple[int, int], set[int]] = {}
    for log in play_games([UKEIRE, RANDOM], seating, [5] * 4, tenhou()):
        for number, kyoku in enumerate(log.kyokus):
            walls.setdefault((kyoku.kyoku, kyoku.honba), set()).add(kyoku.wall.tobytes())
            numbers.setdefault((kyoku.kyoku, kyoku.honba), set()).add(number)
    assert all(len(same) == 1 for same in walls.values())
    assert len(set.union(*walls.values())) == len(walls)
    assert max(map(len, numbers.values())) > 1, "a deal came after another number of deals"


def test_logs_of_games_with_draw_lanes_replay_like_others() -> None:
    with_lanes = list(play_games([UKEIRE, RANDOM], SEATING, SEEDS, tenhou(), options={"has_draw_lanes": True}))
    assert [Replayer().replay(log) for log in with_lanes] == [[]] * len(SEEDS)
    ordinary = play(8)
    assert [log.kyokus[0].wall[:52].tolist() for log in with_lanes] == [
        log.kyokus[0].wall[:52].tolist() for log in ordinary
    ]
    assert [log.final_scores for log in with_lanes] != [log.final_scores for log in ordinary]
