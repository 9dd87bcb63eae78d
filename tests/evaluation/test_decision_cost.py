from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from suphx.evaluation import decision_cost
from suphx.evaluation.decision_cost import Cost, CostJudge, _predicted, total_cost
from suphx.evaluation.review import cost_summary, costliest_differences, review_game
from suphx.evaluation.statistics import Interval
from suphx.games.riichi.archive.store import KyokuStore, write_store
from suphx.games.riichi.records.decisions import RecordedDecisions, recorded_decisions
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.rules import tenhou, tonpuu
from suphx.games.riichi.table import GAME_END, RON, TSUMO
from suphx.models.net_config import RewardPredictorConfig
from suphx.models.reward_predictor import RewardPredictor
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.rollouts.rollout import play_games
from suphx.training.reward_learning import game_histories

UKEIRE = load_agent("ukeire")
POINTS = (90.0, 45.0, 0.0, -135.0)


@pytest.fixture(scope="module")
def game() -> GameLog:
    log: GameLog = next(play_games([UKEIRE], np.zeros((1, 4), np.int64), [3], tenhou()))
    return log


@pytest.fixture(scope="module")
def recorded(game: GameLog) -> RecordedDecisions:
    return recorded_decisions(game)


def random_predictor() -> RewardPredictor:
    predictor = RewardPredictor(RewardPredictorConfig(), POINTS)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        torch.nn.init.normal_(predictor.output.weight)
    return predictor.eval()


def choices(recorded: RecordedDecisions) -> np.ndarray:
    """Return the numbers of the decisions with a choice."""
    return np.flatnonzero(recorded.tables["num_legal"] > 1)


@pytest.mark.parametrize("predictor", [None, random_predictor()])
def test_the_same_move_costs_exactly_nothing(
    game: GameLog, recorded: RecordedDecisions, predictor: RewardPredictor | None
) -> None:
    numbers = choices(recorded)[::40]
    judge = CostJudge(UKEIRE, samples=4, predictor=predictor)
    costs = judge.costs(game, recorded, numbers, recorded.actions[numbers])
    assert costs == [Cost(0.0, 0.0, Interval(0.0, 0.0), 4)] * len(numbers)


def test_wins_that_are_passed_up_cost_points(game: GameLog, recorded: RecordedDecisions) -> None:
    """A cheap one may cost nothing, since another one may follow; all together cost much."""
    wins = np.flatnonzero(np.isin(recorded.actions, (TSUMO, RON)))
    others = [next(a for a in np.flatnonzero(recorded.tables["legal"][n])[::-1] if a not in (TSUMO, RON)) for n in wins]
    actions = recorded.actions.copy()
    actions[wins] = others
    passed_up = replace(recorded, actions=actions)
    costs = CostJudge(UKEIRE, samples=16).costs(game, passed_up, wins, recorded.actions[wins])
    assert sum(cost.interval.low > 0 for cost in costs) > len(costs) / 2 > 1
    assert total_cost(costs)[1].low > 1_000 * len(costs), "what others win afterwards is lost too"
    swapped = CostJudge(UKEIRE, samples=16).costs(game, recorded, wins, actions[wins])
    assert [-cost.mean for cost in swapped] == [cost.mean for cost in costs], "the samples are the same"


def test_neither_parts_nor_other_decisions_change_a_cost(
    game: GameLog, recorded: RecordedDecisions, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = choices(recorded)[5:65:20]
    wanted = np.array([np.flatnonzero(recorded.tables["legal"][n])[0] for n in numbers], np.int16)
    judge = CostJudge(UKEIRE, samples=6)
    told: list[float] = []
    costs = judge.costs(game, recorded, numbers, wanted, told.append)
    assert sum(told) == pytest.approx(len(numbers))
    assert min(told) >= 0
    assert len([part for part in told if part]) > 2, "it tells while deals are played on"
    monkeypatch.setattr(decision_cost, "_MAX_TABLES", 12)
    assert judge.costs(game, recorded, numbers, wanted) == costs
    assert judge.costs(game, recorded, numbers[1:2], wanted[1:2]) == costs[1:2]


def test_predictions_are_those_that_the_predictor_learned_with(
    game: GameLog, recorded: RecordedDecisions, tmp_path: Path
) -> None:
    """After deals as they ended in the game: the lines must be those of its history."""
    write_store([game], tmp_path)
    predictor = random_predictor()
    batch = game_histories(KyokuStore(tmp_path)).batch(np.array([0]))
    with torch.inference_mode():
        expected = predictor(torch.from_numpy(batch.lines)).numpy()
    seats = np.arange(4)
    for kyoku in range(len(game.kyokus) - 1):
        first = np.flatnonzero(recorded.kyokus == kyoku + 1)[0]
        found = _predicted(predictor, game, kyoku, seats, np.repeat(recorded.tables[first : first + 1], 4))
        assert found == pytest.approx(expected[:, kyoku + 1], rel=1e-4, abs=1e-3)
    assert np.ptp(expected) > 1, "not all predictions are alike"


def test_the_end_of_a_game_is_worth_its_place(game: GameLog, recorded: RecordedDecisions) -> None:
    judge = CostJudge(UKEIRE, samples=2, predictor=random_predictor())
    ends = np.repeat(recorded.tables[-1:], 4)
    ends["phase"], ends["placement"] = GAME_END, [2, 1, 4, 3]
    worths = judge._worths(game, np.full(4, len(game.kyokus) - 1), np.arange(4), ends)
    assert worths.tolist() == [45, 90, -135, 0]
    assert (judge.unit, CostJudge(UKEIRE, samples=2).unit) == ("placement points", "points")


def test_an_agent_that_never_calls_goes_on_after_calls() -> None:
    (called,) = play_games([UKEIRE], np.zeros((1, 4), np.int64), [5], tonpuu())
    told: list[float] = []
    judge = CostJudge(load_agent("tsumogiri"), samples=2)
    review = review_game(called, load_agent("tsumogiri"), seats=[0], judge=judge, progress=told.append)
    different = [one for one in review.decisions if one.differs]
    assert different
    assert sum(told) == pytest.approx(1)
    assert all(one.cost is not None for one in different)
    assert all(one.cost is None for one in review.decisions if not one.differs)
    shown = [each for deal in review.values["deals"] for step in deal["steps"] for each in step["decisions"]]
    assert sum("cost" in each for each in shown) == len(different)


def test_discarding_the_drawn_tile_is_dearer_than_what_ukeire_plays() -> None:
    """A review of an agent without skill: its differences from ukeire cost it points on the whole."""
    (log,) = play_games([load_agent("tsumogiri")], np.zeros((1, 4), np.int64), [1], tonpuu())
    short = replace(log, kyokus=log.kyokus[:2])
    decisions = review_game(short, UKEIRE, seats=[1], judge=CostJudge(UKEIRE, samples=24)).decisions
    summary = cost_summary(decisions, "points", 24)
    assert summary["differences"] == sum(one.differs for one in decisions) > 10
    assert summary["interval"][0] > 0
    assert summary["per_game"] == summary["total"]
    costliest = costliest_differences(decisions, 5)
    costs = [one.cost.mean for one in costliest if one.cost is not None]
    assert costs == sorted(costs, reverse=True)
    assert len(costs) == 5


def test_the_total_adds_estimates_and_their_variances() -> None:
    costs = [Cost(1.0, 3.0, Interval(-5, 7), 10_000), Cost(2.0, 4.0, Interval(-6, 10), 10_000)]
    total, interval = total_cost(costs)
    assert total == 3
    assert (interval.low, interval.high) == pytest.approx((3 - 1.96 * 5, 3 + 1.96 * 5), abs=0.01)
