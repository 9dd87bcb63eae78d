from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.evaluation import deal_match
from suphx.evaluation.deal_match import DealReport, play_deal_match
from suphx.evaluation.game_runner import ONE_PROCESS, GameRunner
from suphx.evaluation.kept_results import KeptResults
from suphx.evaluation.match import MatchSetup, SideReport, play_side_match
from suphx.games.doudizhu.bots import play_scripted
from suphx.games.doudizhu.table import Rules
from suphx.games.riichi.rules import tonpuu


def play(
    candidate: str, opponent: str, *, num_deals: int = 60, seed: int = 1, runner: GameRunner = ONE_PROCESS
) -> DealReport:
    return play_deal_match(MatchSetup(candidate, opponent, seed=seed, rules=tonpuu()), num_deals, runner=runner)


def test_an_agent_against_itself_has_no_difference_at_all() -> None:
    report = play("ukeire", "ukeire")
    assert (report.difference.mean, report.changed_share) == (0, 0)
    assert (report.difference.interval.low, report.difference.interval.high) == (0, 0)
    assert report.verdict().startswith("no significant difference: +0.0 points per kyoku")


def test_a_better_agent_wins_more_points() -> None:
    report = play("ukeire", "tsumogiri", num_deals=200)
    assert report.difference.mean > 500
    assert report.difference.is_significant
    assert report.verdict().startswith("ukeire is better than tsumogiri: +")
    worse = play("tsumogiri", "ukeire", num_deals=200)
    assert worse.difference.mean < -500
    assert worse.verdict().startswith("ukeire is better than tsumogiri: -")


def test_the_report_counts_deals_seats_and_games() -> None:
    report = play("ukeire", "random", num_deals=40, seed=3)
    assert (report.hanchans, report.seed) == (4, 3)
    assert report.deals >= 4 * 4, "a game of the east round has at least four deals"
    assert report.difference.num_pairs == 4 * report.deals
    assert report.difference.num_clusters == 4
    assert report.verdict().startswith("too few deals to say who is stronger: ")


def test_workers_parts_that_are_kept_and_the_size_of_a_task_do_not_change_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = play("ukeire", "tsumogiri")
    monkeypatch.setattr(deal_match, "_GAMES_PER_TASK", 2)
    counts: list[float] = []
    assert play("ukeire", "tsumogiri", runner=GameRunner(kept=KeptResults(tmp_path), progress=counts.append)) == whole
    assert sum(counts) == pytest.approx(6)
    (path, *_) = tmp_path.iterdir()
    path.unlink()
    assert play("ukeire", "tsumogiri", runner=GameRunner(workers=2, kept=KeptResults(tmp_path))) == whole


def sides(candidate: str, opponent: str, num_deals: int, *, first: int = 9, **options: Any) -> SideReport:
    setup = MatchSetup(candidate, opponent, seed=0, game="doudizhu", first_deal=first)
    return play_side_match(setup, num_deals, **options)


def test_figures_are_those_of_the_same_decks_played_by_the_scripted_agents() -> None:
    seen: list[float] = []
    told: list[str] = []
    runner = GameRunner(progress=seen.append)
    report = sides("rule", "random", 40, deals_per_task=16, runner=runner, tell=told.append)
    landlord = play_scripted(40, Rules(), ("rule", "random"), seed=9)
    peasants = play_scripted(40, Rules(), ("random", "rule"), seed=9)
    wins = landlord.winners == 0, peasants.winners != 0
    points = [np.where(won, 1, -1) * np.exp2(play.bombs) for won, play in zip(wins, (landlord, peasants), strict=True)]
    means = {name: figure.mean for name, figure in report.figures.items()}
    assert means == pytest.approx(
        {
            "wp_landlord": wins[0].mean(),
            "wp_peasant": wins[1].mean(),
            "adp_landlord": points[0].mean(),
            "adp_peasant": points[1].mean(),
            "share": np.mean(wins),
            "points": np.mean(points),
        }
    )
    assert (sum(seen), report.deals, report.outcome) == (80, 40, "better")
    assert told[-1] == f"{np.mean(wins):.1%} of the games won after 40 decks"
    assert all(f.interval.low <= f.mean <= f.interval.high for f in report.figures.values())
    assert repr(sides("rule", "random", 40, deals_per_task=3, runner=GameRunner(workers=2))) == repr(report)
