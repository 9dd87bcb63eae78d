from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

from suphx.evaluation.game_runner import FORFEITS, ONE_PROCESS, GamePlan, GameRunner, GameTask, Summary
from suphx.evaluation.kept_results import KeptResults
from suphx.evaluation.match import MatchReport, MatchSetup, play_side_match
from suphx.evaluation.match_config import Seating, SeatingChoice
from suphx.evaluation.measures import SequentialConfig
from suphx.evaluation.sequential import SequentialOutcome, SequentialReport, play_sequential_match
from suphx.evaluation.sequential_test import FIRST_LOOK
from suphx.games.scoring import MeasureName

pytestmark = pytest.mark.usefixtures("short_games")


def play(
    candidate: str = "ukeire",
    opponent: str = "tsumogiri",
    *,
    seating: SeatingChoice = "1v3",
    decides: MeasureName = "placement",
    difference: float = 0.5,
    runner: GameRunner = ONE_PROCESS,
) -> SequentialReport:
    return play_sequential_match(
        MatchSetup(candidate, opponent, seed=1),
        SequentialConfig(difference=difference, error=0.05, seating=seating, decides=decides),
        max_deals=80,
        fresh_deals=6,
        runner=runner,
    )


def test_a_clear_match_ends_early_and_new_walls_give_the_figure() -> None:
    report = play()
    assert report.outcome.decision == "better"
    assert report.outcome.deals < 80
    assert report.outcome.log_likelihood_ratio >= report.outcome.bound
    assert isinstance(report.fresh, MatchReport)
    assert report.fresh.seed != report.seed
    assert report.fresh.difference.mean < 0 < report.fresh.points_difference.mean
    assert report.verdict().startswith("ukeire is better than tsumogiri: decided after")
    assert json.loads(json.dumps(report.to_json()))["fresh_match"]["games"] == 24


class Elsewhere:
    """Plays here, each pair of tasks in this order or the other, and says that the opponent forfeited in each."""

    number = 1

    def __init__(self, *, is_swapped: bool) -> None:
        self.is_swapped = is_swapped
        self.num_played = 0

    def play(
        self, plan: GamePlan, tasks: Sequence[GameTask], progress: Callable[[float], None]
    ) -> Generator[tuple[int, Summary], None, None]:
        agents = plan.load_agents()
        for place in range(len(tasks)):
            index = min(place ^ 1, len(tasks) - 1) if self.is_swapped else place
            ((_, summary),) = plan.play_tasks(agents, iter([(index, tasks[index])]), progress)
            self.num_played += 1
            yield index, summary | {FORFEITS: [(1, f"reason {9 - index}")]}


def test_parts_that_come_in_another_order_change_nothing() -> None:
    here, in_order, swapped = play(), Elsewhere(is_swapped=False), Elsewhere(is_swapped=True)
    reports = [play(runner=GameRunner(workers=workers)) for workers in (in_order, swapped)]
    assert in_order.num_played < swapped.num_played, "a part behind the decision was there before it"
    assert reports[0].to_json() == reports[1].to_json()
    assert reports[0].outcome == here.outcome
    assert reports[0].fresh is not None
    assert reports[0].forfeits.counts == {1: reports[0].outcome.deals // 8 + reports[0].fresh.forfeits.counts[1]}


def test_equal_agents_are_not_better_and_play_no_fresh_match() -> None:
    report = play("tsumogiri", "tsumogiri")
    assert (report.outcome.decision, report.fresh) == ("not_better", None)
    for interval in report.outcome.intervals.values():
        assert interval.low == -interval.high < 0, "the agents played alike on every wall"
    assert "is not better than tsumogiri by 0.5 places" in report.verdict()


def test_a_budget_may_end_undecided() -> None:
    report = play(difference=0.01)
    assert (report.outcome.decision, report.outcome.deals, report.fresh) == ("undecided", 80, None)
    assert report.outcome.expected_deals > 0
    assert "more needed" in report.verdict()


@pytest.mark.parametrize("seating", ["2v2", "3v1"])
def test_the_better_agent_passes_in_all_seatings_by_points_too(seating: Seating) -> None:
    report = play(seating=seating, decides="points", difference=30)
    assert report.outcome.decision == "better"
    assert report.outcome.intervals["points"].low > 0
    assert report.outcome.intervals["placement"].high < 0
    worse = play("tsumogiri", "ukeire", seating=seating, decides="points", difference=30)
    assert worse.outcome.decision == "not_better"


def test_all_seatings_are_played_on_the_new_walls_after_a_pass(tmp_path: Path) -> None:
    alone, report = play(), play(seating="all", runner=GameRunner(kept=KeptResults(tmp_path)))
    assert report.outcome == alone.outcome, "one against three decides"
    assert isinstance(report.fresh, MatchReport)
    assert report.to_json()["fresh_match"] == alone.to_json()["fresh_match"]
    assert [match.seating for match in report.fresh.other_seatings] == ["2v2", "3v1"]
    assert all(match.difference.mean < 0 and match.games == 24 for match in report.fresh.other_seatings)
    assert {match.seed for match in report.fresh.other_seatings} == {report.fresh.seed}, "on the same new walls"
    values = json.loads(json.dumps(report.to_json()))
    assert (values["seating"], values["fresh_match"]["seating"]) == ("all", "1v3")
    assert {name: match["seating"] for name, match in values["other_seatings"].items()} == {"2v2": "2v2", "3v1": "3v1"}
    assert "; 3v1: placement difference -" in report.verdict()
    played: list[float] = []
    again = play(seating="all", runner=GameRunner(kept=KeptResults(tmp_path), progress=played.append))
    assert again.to_json() == report.to_json(), "all of it from the kept parts"
    assert play("tsumogiri", "tsumogiri", seating="all").fresh is None


def test_workers_and_kills_change_no_byte(tmp_path: Path) -> None:
    expected = json.dumps(play().to_json())
    kept = KeptResults(tmp_path)

    def kill(games: float) -> None:
        if len(kept):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(runner=GameRunner(kept=kept, progress=kill, max_tables=16))  # so that tasks end one after another
    assert json.dumps(play(runner=GameRunner(kept=kept)).to_json()) == expected
    assert json.dumps(play(runner=GameRunner(kept=kept)).to_json()) == expected, "all of it from the kept parts"
    assert json.dumps(play(runner=GameRunner(workers=2)).to_json()) == expected


FIRST, FIRST_FRESH = 5_000, 50_000


def play_sides(candidate: str, opponent: str, runner: GameRunner, told: list[SequentialOutcome]) -> SequentialReport:
    setup = MatchSetup(candidate, opponent, seed=0, game="doudizhu", first_deal=FIRST, first_fresh_deal=FIRST_FRESH)
    config = SequentialConfig(decides="share", difference=0.2, error=0.05)
    return play_sequential_match(setup, config, max_deals=400, fresh_deals=30, runner=runner, tell=told.append)


def refuse(address: str) -> Any:
    raise AssertionError(f"{address} is loaded although all blocks are kept")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_clear_match_of_two_sides_ends_early_and_new_decks_give_the_figures(workers: int, tmp_path: Path) -> None:
    told: list[SequentialOutcome] = []
    kept = KeptResults(tmp_path / "games")
    report = play_sides("rule", "random", GameRunner(workers=workers, kept=kept), told)
    outcome = report.outcome
    assert (outcome.decision, told[-1]) == ("better", outcome)
    assert FIRST_LOOK <= outcome.deals < 100
    assert outcome.log_likelihood_ratio >= outcome.bound
    assert 0.5 < outcome.intervals["share"].low < outcome.intervals["share"].high <= 1
    alone = play_side_match(MatchSetup("rule", "random", seed=0, game="doudizhu", first_deal=FIRST_FRESH), 30)
    assert report.fresh == alone
    values = json.loads(json.dumps(report.to_json()))
    assert values["fresh_match"]["deals"] == 30
    assert values["fresh_match"]["share"]["mean"] == alone.figures["share"].mean
    played: list[float] = []
    found: list[float] = []
    runner = GameRunner(load=refuse, kept=kept, progress=played.append, note_kept=found.append)
    assert play_sides("rule", "random", runner, []) == report, "all blocks are kept"
    assert (played, sum(found) > 0) == ([], True)


def test_equal_agents_on_two_sides_are_not_better_and_play_no_new_decks() -> None:
    report = play_sides("random", "random", ONE_PROCESS, [])
    assert (report.outcome.decision, report.fresh) == ("not_better", None)
    assert report.outcome.deals < 400
    assert report.outcome.intervals["share"].low < 0.5 < report.outcome.intervals["share"].high
