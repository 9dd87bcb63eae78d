from __future__ import annotations

import numpy as np

from suphx.evaluation.rating import (
    POINTS,
    Derivatives,
    RatedGame,
    covariance_of,
    differences_of,
    fit_strengths,
    game_table,
    rate_agents,
)
from suphx.evaluation.stable_rank import F64
from suphx.evaluation.tournament import ROUNDS, choose_lineups
from tests.evaluation.synthetic_games import ANCHOR, agent_names, interval_of, play_all_alike, play_wall


def chosen_games(names: list[str], strengths: F64, num_walls: int) -> list[RatedGame]:
    """Return the games of one night, whose lineups are chosen as in a tournament."""
    rng = np.random.default_rng(0)
    games: list[RatedGame] = []
    wall = 0
    for _ in range(ROUNDS):
        for lineup in choose_lineups(games, names, num_walls // ROUNDS, size=4, games_per_lineup=4, anchor=ANCHOR):
            games += play_wall(rng, wall, lineup, names, strengths)
            wall += 1
    return games


def uncertainty_of_the_second(games: list[RatedGame]) -> float:
    """Return the standard deviation of the difference between the two strongest of twenty agents, in points."""
    table = game_table(games)
    strengths = fit_strengths(table.orders, 20, anchor=table.agents.index(ANCHOR))
    information = Derivatives(table.orders, strengths).information(np.ones(len(games)))
    first, second = table.agents.index("net-19"), table.agents.index("net-18")
    variances = differences_of(first, covariance_of(information, table.agents.index(ANCHOR)))
    return POINTS * float(np.sqrt(variances[second]))


def test_twenty_agents_are_rated_within_ten_thousand_hanchans() -> None:
    names, strengths = agent_names(20), np.linspace(0, 300, 20) / POINTS
    games = chosen_games(names, strengths, 2500)
    assert len(games) == 10_000
    ratings = rate_agents(games, anchor=ANCHOR)
    ranking = sorted(names, key=lambda name: -ratings[name].rating)
    assert ranking[0] == names[-1]
    widths = {name: interval_of(ratings[name]).high - interval_of(ratings[name]).low for name in names}
    assert max(widths.values()) < 80
    alike = uncertainty_of_the_second(play_all_alike(names, strengths, 2500))
    assert uncertainty_of_the_second(games) < 0.7 * alike, "with games for all alike: twice as many are needed"
    best = names[-3:]
    counts = {name: ratings[name].games for name in names}
    assert min(counts.values()) > 400, "nobody is unknown"
    assert min(counts[name] for name in best) > 2 * max(counts[name] for name in names[:10])


def test_an_agent_without_games_plays_first_and_the_choice_is_repeatable() -> None:
    names = agent_names(6)
    games = [game for game in play_all_alike(names, np.zeros(6), 80) if "net-05" not in game.seats]
    (first, *_) = lineups = choose_lineups(games, names, 8, size=4, games_per_lineup=4, anchor=ANCHOR)
    assert 5 in first
    assert all(list(lineup) == sorted(set(lineup)) for lineup in lineups)
    assert lineups == choose_lineups(reversed(games), names, 8, size=4, games_per_lineup=4, anchor=ANCHOR)


def test_agents_that_are_not_there_tonight_are_not_chosen() -> None:
    names = agent_names(8)
    games = play_all_alike(names, np.linspace(0, 2, 8), 100)
    there = [names[4], ANCHOR, names[2], "new", names[5]]
    lineups = choose_lineups(games, there, 12, size=4, games_per_lineup=4, anchor=ANCHOR)
    assert {place for lineup in lineups for place in lineup} <= set(range(5))
    assert sum(3 in lineup for lineup in lineups) >= 10, "the new one is not known yet"
