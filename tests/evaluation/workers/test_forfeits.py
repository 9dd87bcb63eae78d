from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.evaluation.match import MatchReport, play_match
from suphx.evaluation.match_setup import MatchSetup
from suphx.evaluation.rating.rating import rate_agents
from suphx.evaluation.rating.tournament import (
    PlayedWall,
    Player,
    TournamentSetup,
    placements_of,
    play_tournament,
    replay_walls,
)
from suphx.evaluation.sequential.sequential_config import SequentialConfig
from suphx.evaluation.sequential.sequential_match import SequentialReport, play_sequential_match
from suphx.evaluation.workers.forfeits import Forfeits, counted_places
from suphx.evaluation.workers.game_runner import GameRunner
from suphx.evaluation.workers.match_records import KeptResults
from suphx.games.riichi import GameRecorder, Quarantine, iter_records, places_of_scores
from suphx.games.riichi.table.rules import tonpuu
from suphx.kernel.record import I16, I64, Records
from suphx.selfplay.agents.agent import Agent, ScriptedAgent, load_agent

QUITTER = "quitter"


class Quitter(ScriptedAgent):
    """Plays as ukeire does, and says of every game that it could not play it to the end."""

    max_tables = 8

    def __init__(self) -> None:
        super().__init__("ukeire")
        self._seats: dict[int, set[int]] = {}

    def follow(self, recorder: GameRecorder) -> None:
        self._seats.clear()

    def leave(self) -> None:
        self._seats.clear()

    def forfeits(self, index: int) -> dict[int, str]:
        return dict.fromkeys(self._seats.get(index, ()), "it has quit")

    def act(self, tables: Records, indices: I64) -> I16:
        for index, seat in zip(indices.tolist(), tables["actor"][indices].tolist(), strict=True):
            self._seats.setdefault(index, set()).add(seat)
        return super().act(tables, indices)


def load(address: str) -> Agent:
    return Quitter() if address == QUITTER else load_agent(address)


HERE = GameRunner(load=load)


def match(candidate: str, opponent: str, records: Path | None = None, kept: KeptResults | None = None) -> MatchReport:
    setup = MatchSetup(candidate, opponent, seed=1, rules=tonpuu())
    return play_match(setup, 16, runner=GameRunner(load=load, records=records, kept=kept))


def test_the_order_in_which_games_end_changes_nothing() -> None:
    lost = [(1, "late"), (0, "gone"), (1, "crashed"), (1, "late")]
    found = []
    for order in itertools.permutations(lost):
        forfeits = Forfeits()
        for agent, reason in order:
            forfeits.note(agent, reason)
        found.append((forfeits.to_json(("a", "b")), forfeits.sentences(("a", "b"))))
    assert all(each == found[0] for each in found)
    counts, (first, second) = found[0]
    assert counts == {"a": {"forfeits": 1, "reason": "gone"}, "b": {"forfeits": 3, "reason": "crashed"}}
    assert first.startswith("a could not play 1 game to the end: each counts as last place")
    assert second.endswith("one of the reasons: crashed")


@pytest.mark.parametrize(
    ("forfeited", "places"),
    [
        ((), [2, 1, 3, 4]),
        ((3,), [2, 1, 3, 4]),
        ((1,), [1, 4, 2, 3]),
        ((0, 1), [4, 3, 1, 2]),
        ((1, 2, 3), [1, 2, 3, 4]),
        ((0, 1, 2, 3), [2, 1, 3, 4]),
    ],
)
def test_a_seat_that_forfeits_is_behind_all_that_do_not(forfeited: tuple[int, ...], places: list[int]) -> None:
    assert counted_places(np.array([[30_000, 45_000, 25_000, 0]]), [set(forfeited)]).tolist() == [places]


def test_places_stay_a_permutation_and_equal_points_go_to_the_first_dealer() -> None:
    subsets = [set(seats) for size in range(5) for seats in itertools.combinations(range(4), size)]
    for scores in ([25_000] * 4, [40_000, 10_000, 40_000, 10_000]):
        places = counted_places(np.array([scores] * len(subsets)), subsets)
        assert (np.sort(places, axis=1) == [1, 2, 3, 4]).all()
        assert places[0].tolist() == places_of_scores(np.array([scores]))[0].tolist()
        for seats, row in zip(subsets, places.tolist(), strict=True):
            assert sorted(row[seat] for seat in seats) == list(range(5 - len(seats), 5))


def final_scores(folder: Path) -> list[Any]:
    logs = iter_records(sorted(folder.glob("*.tsv.xz")), quarantine=Quarantine())
    return sorted((log.id, log.final_scores) for log in logs)


def test_a_match_counts_a_forfeit_as_fourth_place_and_its_records_show_the_game_as_played(tmp_path: Path) -> None:
    kept = KeptResults(tmp_path / "kept")
    honest = match("ukeire", "tsumogiri", tmp_path / "honest")
    lost = match(QUITTER, "tsumogiri", tmp_path / "lost", kept)
    assert honest.difference.mean < 0
    assert lost.statistics.placements == (0, 0, 0, 16)
    assert lost.opponent_statistics.placements == (16, 16, 16, 0), "the others move up"
    assert lost.difference.mean == 1.5, "fourth instead of 2.5th"
    assert lost.points_difference.mean == lost.points[3] - np.mean(lost.points)
    assert lost.statistics.win_rate == honest.statistics.win_rate
    assert final_scores(tmp_path / "lost") == final_scores(tmp_path / "honest")
    (path,) = kept.folder.iterdir()
    told = json.loads(path.read_bytes())["forfeits"]
    assert told == [[0, "it has quit", game, game % 4] for game in range(16)]
    assert repr(match(QUITTER, "tsumogiri", kept=kept)) == repr(lost)


def test_of_several_seats_that_forfeit_the_points_decide() -> None:
    report = match("tsumogiri", QUITTER)
    assert report.statistics.placements == (16, 0, 0, 0)
    assert report.opponent_statistics.placements == (0, 16, 16, 16)
    assert report.forfeits.counts == {1: 48}


def sequential(candidate: str) -> SequentialReport:
    config = SequentialConfig(difference=0.5, error=0.05)
    setup = MatchSetup(candidate, "tsumogiri", seed=3, rules=tonpuu())
    return play_sequential_match(setup, config, max_hanchans=160, fresh_hanchans=8, runner=HERE)


def test_the_sequential_test_promotes_nobody_who_forfeits() -> None:
    honest, lost = sequential("ukeire"), sequential(QUITTER)
    assert (honest.outcome.decision, lost.outcome.decision) == ("better", "not_better")
    assert lost.outcome.intervals["placement"].low > 0
    assert lost.forfeits.counts == {0: lost.outcome.hanchans}


def test_forfeits_on_the_new_walls_are_told_too() -> None:
    config = SequentialConfig(difference=0.5, error=0.05)
    setup = MatchSetup("ukeire", QUITTER, seed=3, rules=tonpuu())
    report = play_sequential_match(setup, config, max_hanchans=160, fresh_hanchans=8, runner=HERE)
    assert report.fresh is not None
    assert report.forfeits.counts == {1: 3 * (report.outcome.hanchans + 8)}


def test_a_tournament_rates_a_forfeit_as_fourth_place() -> None:
    addresses = {"a": "ukeire", "b": "tsumogiri", "c": QUITTER, "d": "random"}
    players = [Player(digest, address, digest) for digest, address in addresses.items()]
    walls: list[PlayedWall] = []
    setup = TournamentSetup(players=players, anchor="a", seed=1, rules=tonpuu())
    games = play_tournament(setup, 16, runner=HERE, note_wall=walls.append)
    assert set(placements_of(games, "c").tolist()) == {4}
    assert all(sorted(game.places) == [1, 2, 3, 4] for game in games)
    assert walls[0].rows["c"][:4].tolist() == [0, 0, 0, 4]
    assert [wall.forfeits for wall in walls] == [[("c", "it has quit")] * 4] * 4
    ratings = {digest: rating.rating for digest, rating in rate_agents(games, anchor="a").items()}
    assert min(ratings, key=ratings.__getitem__) == "c"


def test_a_replay_has_the_places_that_counted_and_records_of_the_game_as_played(tmp_path: Path) -> None:
    players = [Player(digest, address, digest) for digest, address in zip("abcd", ("ukeire", QUITTER) * 2, strict=True)]
    games = play_tournament(TournamentSetup(players=players, anchor="a", seed=1), 8, runner=HERE)
    wall = [game for game in games if game.wall == games[0].wall]
    places = replay_walls(players, {1: wall}, runner=GameRunner(load=load, records=tmp_path))
    assert places == {1: [list(game.places) for game in wall]}
    logs = iter_records([tmp_path / "wall-1.tsv.xz"], quarantine=Quarantine())
    shown = [places_of_scores(np.array([log.final_scores]))[0].tolist() for log in logs]
    assert shown != places[1]
