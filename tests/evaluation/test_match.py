from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from suphx.evaluation.game_runner import ONE_PROCESS, GameRunner
from suphx.evaluation.kept_results import KeptResults
from suphx.evaluation.match import CANDIDATE, MatchReport, MatchSetup, first_game, play_deals, play_match
from suphx.evaluation.match_config import SEATS, Seating
from suphx.evaluation.measures import PLACEMENT, points_measure
from suphx.evaluation.statistics import Interval
from suphx.games.riichi.game import Riichi
from suphx.games.riichi.records.replay import Replayer
from suphx.games.riichi.rules import tonpuu
from suphx.games.riichi.table import places_of_scores
from suphx.games.riichi.tables import RiichiScoring
from suphx.games.scoring import SeatScoring
from tests.selfplay.small_policy_set import save_random
from tests.suphx_pipelines.runs.tile_keeper import save_keeper

SEATINGS: tuple[Seating, ...] = ("1v3", "2v2", "3v1")


@pytest.mark.parametrize("seating", SEATINGS)
def test_the_same_nets_at_two_addresses_have_the_mean_on_every_wall(seating: Seating, tmp_path: Path) -> None:
    nets = save_random(tmp_path / "nets")
    copies = shutil.copytree(nets, tmp_path / "copies")
    blocks = play_deals(MatchSetup(str(nets), str(copies), seed=1, rules=tonpuu()), 6, seating=seating)
    found = list(blocks)
    rows = np.concatenate([block.rows[CANDIDATE] for block in found])
    placements = np.concatenate([block.placements for block in found])
    assert replace(PLACEMENT, candidates=int(seating[0])).wall_sums(placements).tolist() == [0] * 6
    assert len({tuple(game) for game in rows[:, :SEATS].tolist()}) > 1, "the games differ"


@pytest.mark.parametrize("seating", ["1v3", *(pytest.param(name, marks=pytest.mark.slow) for name in SEATINGS[1:])])
def test_better_nets_win_in_all_seatings(seating: Seating, tmp_path: Path) -> None:
    better, worse = save_keeper(tmp_path / "keeper"), save_random(tmp_path / "random")
    report = play_match(MatchSetup(str(better), str(worse), seed=2, rules=tonpuu()), 48, seating=seating)
    assert report.difference.is_significant
    assert report.difference.mean < -0.2
    assert report.points_difference.mean > 0
    assert report.seating == seating


def play(
    candidate: str, opponent: str, *, num_hanchans: int = 8, seed: int = 1, runner: GameRunner = ONE_PROCESS
) -> MatchReport:
    return play_match(MatchSetup(candidate, opponent, seed=seed, rules=tonpuu()), num_hanchans, runner=runner)


@pytest.mark.parametrize("name", ["tsumogiri", "ukeire", "random"])
def test_an_agent_against_itself_has_no_paired_difference(name: str) -> None:
    report = play(name, name)
    assert report.difference.mean == 0
    assert (report.difference.interval.low, report.difference.interval.high) == (0, 0)
    assert not report.difference.is_significant
    # Every wall has each place once: walls do not differ, although games do.
    for statistics in (report.statistics, report.opponent_statistics):
        assert statistics.intervals["average_placement"] == Interval(2.5, 2.5)


def test_a_better_agent_has_a_significant_negative_difference() -> None:
    report = play("ukeire", "tsumogiri", num_hanchans=80)
    assert report.difference.mean < -0.5
    assert report.difference.is_significant
    assert report.verdict().startswith("ukeire is better than tsumogiri: ")
    assert report.verdict().endswith("over 80 hanchans")
    worse = play("tsumogiri", "ukeire", num_hanchans=80)
    assert worse.difference.mean > 0.5


def test_a_few_walls_make_no_claim_and_the_report_says_that_their_interval_was_widened() -> None:
    report = play("ukeire", "tsumogiri", num_hanchans=8)
    verdict, found = report.verdict(), report.to_json()
    assert verdict.startswith("too few games to say who is stronger: ")
    assert "over 8 hanchans; over 2 walls the interval means little, play at least 24 hanchans; the interval" in verdict
    assert verdict.endswith("was widened to include no difference, because fewer than 6 walls differ")
    for name in ("paired_difference", "points_difference"):
        figures = found[name]
        assert isinstance(figures, dict)
        assert (0.0 in figures["interval"], figures["is_widened"]) == (True, True)
    sure = play("ukeire", "tsumogiri", num_hanchans=24)
    assert "widened" not in sure.verdict()
    assert not sure.difference.interval.is_widened


def test_the_result_does_not_depend_on_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Riichi, "scoring", RiichiScoring(deals_per_task=1))  # so that there is a task for each worker
    # As text: a rate without cases is not a number, which equals nothing.
    assert repr(play("ukeire", "tsumogiri", runner=GameRunner(workers=2))) == repr(play("ukeire", "tsumogiri"))


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_counts_parts_of_the_candidates_games(monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    monkeypatch.setattr(Riichi, "scoring", RiichiScoring(deals_per_task=2))
    counts: list[float] = []
    play("tsumogiri", "random", num_hanchans=20, runner=GameRunner(workers=workers, progress=counts.append))
    assert sum(counts) == pytest.approx(20)
    assert workers == 2 or len(counts) > 20, "parts of games are counted; other processes tell them together"
    assert min(counts) >= 0


def test_the_first_game_can_be_looked_at() -> None:
    told: list[float] = []
    game = first_game(MatchSetup("ukeire", "random", seed=1, rules=tonpuu()), progress=told.append)
    assert sum(told) == pytest.approx(1)
    assert game.names == ("candidate", "opponent", "opponent", "opponent")
    assert Replayer().replay(game) == []
    assert game.final_scores is not None
    assert places_of_scores(np.array([game.final_scores]))[0, 0] == play("ukeire", "random").placements[0]


def test_a_match_goes_on_where_it_was_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Riichi, "scoring", RiichiScoring(deals_per_task=1))
    kept = KeptResults(tmp_path)

    def kill(games: float) -> None:
        if len(kept):
            raise KeyboardInterrupt

    def play_on(progress: Callable[[float], None]) -> MatchReport:
        runner = GameRunner(kept=kept, progress=progress, max_tables=4)  # so that tasks end one after another
        return play("ukeire", "tsumogiri", num_hanchans=12, runner=runner)

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            play_on(kill)
        assert len(kept) == 1
    counts: list[float] = []
    assert repr(play_on(counts.append)) == repr(play("ukeire", "tsumogiri", num_hanchans=12))
    assert counts[0] == 4, "the wall that was kept"
    assert sum(counts) == pytest.approx(12)


# who sits where, and what that is worth


@pytest.mark.parametrize("seating", SEATINGS)
def test_every_seat_has_as_many_candidates(seating: Seating) -> None:
    for wall in range(6):
        seats = SeatScoring().candidate_seats(seating, wall)
        assert seats.sum(axis=0).tolist() == [int(seating[0])] * 4
        assert seats.sum(axis=1).tolist() == [int(seating[0])] * 4


def test_two_against_two_sit_in_all_six_ways_equally_often() -> None:
    ways = np.concatenate([SeatScoring().candidate_seats("2v2", wall) for wall in range(3)])
    different, counts = np.unique(ways, axis=0, return_counts=True)
    assert (len(different), set(counts.tolist())) == (6, {2})


@pytest.mark.parametrize("seating", SEATINGS)
@pytest.mark.parametrize("wall", range(3))
def test_equal_agents_differ_by_nothing(seating: Seating, wall: int) -> None:
    """The same four players at the same seats give the same places in all four games of a wall."""
    counts = np.zeros((1, 4), np.int64)
    for seats in SeatScoring().candidate_seats(seating, wall):
        counts[0] += seats[[2, 0, 3, 1]]  # the players of these seats come first to fourth
    for measure in (PLACEMENT, points_measure((90, 45, 0, -135)), points_measure((75, 30, 0, -165))):
        assert replace(measure, candidates=int(seating[0])).wall_sums(counts).tolist() == [0]


@pytest.mark.parametrize("seating", SEATINGS)
def test_a_strength_that_adds_up_gives_the_same_difference_in_all_seatings(seating: Seating) -> None:
    """Places from a table's mean 2.5 and a candidate's lead of 0.4 over each opponent."""
    number = int(seating[0])
    places_of_a_candidate = 2.5 - 0.4 * (4 - number) / 4
    beyond_the_mean = 4 * number * (places_of_a_candidate - 2.5)  # of a wall, as wall_sums
    assert replace(PLACEMENT, candidates=number).wall_unit * beyond_the_mean == pytest.approx(-0.3)


def test_a_wall_that_is_played_in_all_orders_has_every_seating_once() -> None:
    scoring = SeatScoring(has_all_orders=True)
    ways = scoring.candidate_seats("2v2", 5)
    assert sorted(map(tuple, ways.tolist())) == sorted({tuple(way) for way in ways.tolist()})
    assert [scoring.num_games(seating) for seating in scoring.seatings] == [4, 6, 4]
    assert len({tuple(order) for order in scoring.lineup_seats(7).tolist()}) == len(scoring.lineup_seats(7)) == 24
