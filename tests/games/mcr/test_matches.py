"""Matches and tournaments of MCR: walls in all orders of the agents, and the points of their games decide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.match import MatchReport, MatchSetup, play_match
from suphx.evaluation.match_config import Seating
from suphx.evaluation.measures import SequentialConfig
from suphx.evaluation.rating import RatedGame, rate_agents
from suphx.evaluation.sequential import play_sequential_match
from suphx.evaluation.tournament import (
    PlayedLineup,
    Player,
    TournamentSetup,
    places_of_sums,
    play_tournament,
    replay_deals,
)
from suphx.games.mcr.game import GAME
from suphx.games.scoring import shared_ranks
from suphx_pipelines.tournament.history import EarlierNights
from suphx_pipelines.tournament.kind import Entrant, Kind, Night, Pool
from suphx_pipelines.tournament.stages import table_of

SETUP = MatchSetup("shanten", "random", seed=3, game="mcr")


@pytest.mark.parametrize(("seating", "walls", "games"), [("1v3", 25, 100), ("2v2", 16, 96), ("3v1", 25, 100)])
def test_a_match_decides_by_the_mean_score_on_the_scale_of_one_among_three(
    seating: Seating, walls: int, games: int, tmp_path: Path
) -> None:
    report = play_match(SETUP, 100, seating=seating, runner=GameRunner(records=tmp_path))
    assert (report.deals, report.games, report.decides, report.points) == (walls, games, "points", ())
    GAME.join_records(tmp_path)
    records = list(GAME.read_records(tmp_path))
    means = {
        name: np.mean(
            [
                score
                for record in records
                for score, own in zip(record.score or (), record.players, strict=True)
                if own == name
            ]
        )
        for name in ("candidate", "opponent")
    }
    assert report.points_difference.mean == pytest.approx(3 / 4 * (means["candidate"] - means["opponent"]))
    assert report.statistics.own["average_score"] == pytest.approx(means["candidate"])
    assert report.points_difference.num_clusters == walls
    assert report.points_difference.interval.low > 0
    assert "shanten is better than random: +" in report.verdict()
    assert report.to_json()["decides"] == "points"


def test_equal_agents_have_equal_points_on_every_wall() -> None:
    report: MatchReport = play_match(MatchSetup("shanten", "shanten", seed=1, game="mcr"), 24)
    assert (report.points_difference.mean, report.points_difference.interval.ends) == (0.0, [0.0, 0.0])


def test_a_sequential_match_decides_by_points_in_any_seating() -> None:
    config = SequentialConfig(difference=8, error=0.05, decides="points", seating="2v2")
    report = play_sequential_match(SETUP, config, max_deals=200, fresh_deals=10)
    assert report.outcome.decision == "better"
    assert report.outcome.intervals["points"].low > 0 > report.outcome.intervals["placement"].high
    values = report.to_json()
    assert (values["decides"], values["points"], values["games"]) == ("points", [], 6 * report.outcome.deals)
    assert values["fresh_match"]["games"] == 60
    assert "points per game" in report.verdict()


def night_table(players: list[Player], lineups: list[PlayedLineup]) -> dict[str, Any]:
    """Return the leaderboard of a night with these lineups."""
    entrants = tuple(Entrant(name=each.name, address=each.address, digest=each.digest) for each in players)
    pool = Pool(entrants=entrants, champion=None, version=None, left_out={})
    night = Night(pool=pool, earlier=EarlierNights([], []), anchor="a", name="tonight", run_id="run")
    for lineup in lineups:
        night.note(lineup)
    return table_of(Kind("mcr"), night)


def test_a_tournament_ranks_the_sums_over_all_orders_of_a_wall() -> None:
    players = [Player(digest, address, digest) for digest, address in
               {"a": "random", "b": "shanten", "c": "shanten", "d": "random"}.items()]  # fmt: skip
    lineups: list[PlayedLineup] = []
    setup = TournamentSetup(players=players, anchor="a", game="mcr")
    games = play_tournament(setup, 12, note_lineup=lineups.append)
    assert [sorted(game.seats) for game in games] == [list("abcd")] * 12
    ranking = {name: sum(lineup.ranking[name] for lineup in lineups) / 12 for name in "abcd"}
    assert ranking["b"] == ranking["c"] == 3.5  # they are equal, and share the points of first and second place
    assert sum(ranking.values()) == 10
    assert sum(sum(own) for lineup in lineups for own in lineup.points.values()) == 0
    rows = {row["name"]: row for row in night_table(players, lineups)["agents"]}
    assert {name: row["ranking_points"] for name, row in rows.items()} == ranking
    assert sum(row["points_per_game"] for row in rows.values()) == pytest.approx(0)
    assert rows["b"]["style"]["win_rate"] > rows["a"]["style"]["win_rate"]
    shown = {column.title: column.text(column.value(rows["b"])) for column in Kind("mcr").columns}
    assert shown["ranking points per deal"] == "3.500"
    ratings = rate_agents(games, anchor="a")
    assert ratings["b"].rating > 1000
    assert ratings["b"].games == 12
    again = replay_deals(players[::-1], {number: [game] for number, game in enumerate(games[:2])}, game="mcr")
    assert again == {number: [list(game.places)] for number, game in enumerate(games[:2])}


def test_equal_sums_share_their_places_and_the_deal_orders_them() -> None:
    assert shared_ranks(np.array([5.0, -3.0, 5.0, -7.0])).tolist() == [1.5, 3.0, 1.5, 4.0]
    places = {places_of_sums(np.array([5.0, -3.0, 5.0, -7.0]), deal) for deal in range(20)}
    assert places == {(1, 3, 2, 4), (2, 3, 1, 4)}
    assert RatedGame(1, ("a", "b", "c", "d"), places.pop()).places[1] == 3


def test_who_forfeits_a_game_pays_as_for_an_illegal_reply() -> None:
    places, points = GAME.scoring.settle(np.array([[30, -10, -10, -10], [0, 0, 0, 0]]), [[0], []])
    assert points.tolist() == [[-30, 10, 10, 10], [0, 0, 0, 0]]
    assert places[0].tolist() == [4, 1, 2, 3]
