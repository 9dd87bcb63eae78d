"""A match in a game of two sides that stops when it is decided."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.sequential import MeasuredWalls, simulate_matches
from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.kept_results import KeptResults
from suphx.evaluation.match import MatchSetup, play_side_match
from suphx.evaluation.measures import SequentialConfig
from suphx.evaluation.sequential import SequentialOutcome, SequentialReport, play_sequential_match
from suphx.evaluation.sequential_test import FIRST_LOOK
from suphx.games.doudizhu.table import Rules

FIRST, FIRST_FRESH = 5_000, 50_000


def refuse(address: str) -> Any:
    raise AssertionError(f"{address} is loaded although all blocks are kept")


def play(candidate: str, opponent: str, runner: GameRunner, told: list[SequentialOutcome]) -> SequentialReport:
    setup = MatchSetup(
        candidate, opponent, seed=0, game="doudizhu", rules=Rules(), first_deal=FIRST, first_fresh_deal=FIRST_FRESH
    )
    config = SequentialConfig(decides="share", difference=0.2, error=0.05)
    return play_sequential_match(setup, config, max_deals=400, fresh_deals=30, runner=runner, tell=told.append)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_clear_match_ends_early_and_new_decks_give_the_figures(workers: int, tmp_path: Path) -> None:
    told: list[SequentialOutcome] = []
    kept = KeptResults(tmp_path / "games")
    runner = GameRunner(workers=workers, kept=kept)
    report = play("rule", "random", runner, told)
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
    again = play("rule", "random", runner, [])
    assert again == report, "all blocks are kept"
    assert (played, sum(found) > 0) == ([], True)


def test_equal_agents_are_not_better_and_play_no_new_decks() -> None:
    told: list[SequentialOutcome] = []
    report = play("random", "random", GameRunner(workers=1), told)
    assert (report.outcome.decision, report.fresh) == ("not_better", None)
    assert report.outcome.deals < 400
    assert report.outcome.intervals["share"].low < 0.5 < report.outcome.intervals["share"].high
    assert "of the games won, ratio" in report.outcome.note(report.scoring)


@pytest.mark.parametrize("gain", [0.0, 0.05])
def test_no_more_decisions_are_wrong_than_promised(gain: float) -> None:
    config = SequentialConfig(decides="share", difference=0.05, error=0.05)
    decks = MeasuredWalls(np.repeat([-1, 0, 1], [30, 45, 25]), config.gains()[0].scale).with_gain(gain)
    found = simulate_matches(config.test(), decks, matches=400, rng=np.random.default_rng(1))
    wrong = 1 - found.better if gain else found.better
    assert wrong <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)
