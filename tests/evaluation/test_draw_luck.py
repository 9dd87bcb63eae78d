"""The luck of hands and draws: zero on average, and what is left without it scatters less."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from suphx.evaluation.draw_luck import AdjustedMean, DrawLuck
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.tables import ScriptedAgent
from suphx.selfplay.rollouts.rollout import play_games


def collected(games: Sequence[GameLog]) -> DrawLuck:
    luck = DrawLuck()
    assert list(luck.collect(games)) == list(games)
    return luck


@pytest.fixture(scope="module")
def games() -> list[GameLog]:
    """Games of four equal players."""
    agents = [ScriptedAgent("ukeire") for _ in range(4)]
    for agent, name in zip(agents, "ABCD", strict=True):
        agent.name = name
    seating = np.array([np.roll(range(4), game) for game in range(400)])
    return list(play_games(agents, seating, range(400), tenhou()))


@pytest.fixture(scope="module")
def results(games: list[GameLog]) -> list[dict[str, AdjustedMean]]:
    luck = collected(games)
    return [luck.of_player(name) for name in "ABCD"]


def test_without_luck_the_results_of_equal_players_scatter_less(results: list[dict[str, AdjustedMean]]) -> None:
    for name, least in (("average_placement", 1.1), ("points_per_game", 1.15)):
        assert np.mean([result[name].gain for result in results]) > least
        widths = [(mean.adjusted_interval.high - mean.adjusted_interval.low) for mean in (r[name] for r in results)]
        raw = [(mean.interval.high - mean.interval.low) for mean in (r[name] for r in results)]
        assert np.mean(widths) < 0.97 * np.mean(raw)


def test_the_adjustment_takes_from_one_what_it_gives_to_others(results: list[dict[str, AdjustedMean]]) -> None:
    assert sum(result["average_placement"].mean for result in results) == pytest.approx(10)
    assert sum(result["average_placement"].adjusted for result in results) == pytest.approx(10, abs=0.15)
    for result in results:  # equal players: within four standard errors
        mean = result["average_placement"]
        assert abs(mean.adjusted - 2.5) < mean.adjusted_interval.high - mean.adjusted_interval.low


def test_a_stronger_player_stays_stronger() -> None:
    agents = [ScriptedAgent("ukeire"), ScriptedAgent("tsumogiri")]
    seating = np.array([np.roll([0, 1, 1, 1], game) for game in range(80)])
    mean = collected(list(play_games(agents, seating, range(80), tenhou()))).of_player("ukeire")["points_per_game"]
    assert mean.adjusted_interval.low > 0


def test_one_game_has_no_interval(games: list[GameLog]) -> None:
    renamed = [replace(games[0], names=("E", "B", "E", "D")), *games[1:40]]
    for mean in collected(renamed).of_player("E").values():
        assert np.isnan([mean.interval.low, mean.interval.high, mean.adjusted_interval.low]).all()
        values = mean.to_json()
        assert (values["interval"], values["adjusted_interval"]) == ([None, None], [None, None])
        json.dumps(values, allow_nan=False)
