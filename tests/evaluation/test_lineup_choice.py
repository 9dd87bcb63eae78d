"""Who plays next: lineups of four, and pairs for games of two sides."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from suphx.evaluation.rating import ANCHOR_RATING, POINTS, RatedGame, rate_agents
from suphx.evaluation.stable_rank import F64
from suphx.evaluation.tournament import ROUNDS, choose_lineups
from tests.evaluation.synthetic_games import (
    ANCHOR,
    agent_names,
    interval_of,
    play_all_alike,
    play_wall,
    uncertainty_of_the_second,
)


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


def test_twenty_agents_are_rated_within_ten_thousand_hanchans() -> None:
    names, strengths = agent_names(20), np.linspace(0, 300, 20) / POINTS
    games = chosen_games(names, strengths, 2500)
    assert len(games) == 10_000
    ratings = rate_agents(games, anchor=ANCHOR)
    ranking = sorted(names, key=lambda name: -ratings[name].rating)
    assert ranking[0] == names[-1]
    widths = {name: interval_of(ratings[name]).high - interval_of(ratings[name]).low for name in names}
    assert max(widths.values()) < 80
    played = games, play_all_alike(names, strengths, 2500)
    chosen, alike = (uncertainty_of_the_second(each, ANCHOR, best=names[-1], second=names[-2]) for each in played)
    assert chosen < 0.7 * alike, "with games for all alike: twice as many are needed"
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


NAMES = agent_names(8)
STRENGTHS = np.linspace(0.0, 1.4, len(NAMES))
GAMES_PER_PAIR = 40


def play_pair(rng: np.random.Generator, pair: tuple[int, ...], first_deal: int) -> list[RatedGame]:
    """Return the games of a pair on twenty decks, both sides."""
    games = []
    for deal in range(first_deal, first_deal + GAMES_PER_PAIR // 2):
        for seats in (pair, pair[::-1]):
            difference = STRENGTHS[seats[0]] - STRENGTHS[seats[1]]
            places = (1, 2) if rng.random() < 1 / (1 + math.exp(-difference)) else (2, 1)
            games.append(RatedGame(deal, tuple(NAMES[seat] for seat in seats), places))
    return games


def play_night(num_pairs: int, *, is_chosen: bool) -> list[RatedGame]:
    """Return the games of pairs that are chosen in rounds of five, or drawn at random."""
    rng = np.random.default_rng(3)
    games: list[RatedGame] = []
    for start in range(0, num_pairs, 5):
        if is_chosen:
            pairs = choose_lineups(games, NAMES, 5, size=2, games_per_lineup=GAMES_PER_PAIR, anchor=ANCHOR)
        else:
            pairs = [tuple(pair) for pair in rng.permuted([range(len(NAMES))] * 5, axis=1)[:, :2].tolist()]
        for number, pair in enumerate(pairs, start):
            games += play_pair(rng, pair, 100 * number)
    return games


def test_the_strength_of_two_agents_is_the_logarithm_of_their_wins() -> None:
    games = [RatedGame(deal, (ANCHOR, "net"), (1, 2) if deal < 250 else (2, 1)) for deal in range(1000)]
    ratings = rate_agents(games, anchor=ANCHOR)
    assert ratings[ANCHOR].rating == ANCHOR_RATING
    assert ratings["net"].rating == pytest.approx(ANCHOR_RATING + POINTS * math.log(750 / 250), abs=0.1)
    assert interval_of(ratings["net"]).low < ratings["net"].rating < interval_of(ratings["net"]).high
    assert ratings["net"].games == 1000


def test_chosen_pairs_show_sooner_who_is_the_best_and_nobody_is_unknown() -> None:
    chosen, alike = (play_night(100, is_chosen=is_chosen) for is_chosen in (True, False))
    known = [uncertainty_of_the_second(games, ANCHOR, best=NAMES[-1], second=NAMES[-2]) for games in (chosen, alike)]
    assert known[0] < 0.7 * known[1], "twice as many games otherwise"
    counts = Counter(agent for game in chosen for agent in game.seats)
    assert min(counts[name] for name in NAMES) >= 5 * GAMES_PER_PAIR


def test_every_second_pair_of_a_night_has_the_agent_with_the_fewest_games_however_it_is_divided() -> None:
    games = play_night(100, is_chosen=False)
    counts = Counter(agent for game in games for agent in game.seats)
    rare = min(range(len(NAMES)), key=lambda agent: (counts[NAMES[agent]], agent))
    pairs = [
        choose_lineups(games, NAMES, 1, size=2, games_per_lineup=GAMES_PER_PAIR, anchor=ANCHOR, num_before=number)[0]
        for number in range(4)
    ]
    assert pairs[0] == pairs[2]
    assert pairs[1] == pairs[3] != pairs[0]
    assert rare in pairs[0]
