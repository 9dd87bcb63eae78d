"""Pairs for games of two sides: ratings with two agents in a game, and who plays next."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from suphx.evaluation.rating import (
    ANCHOR_RATING,
    POINTS,
    Derivatives,
    RatedGame,
    covariance_of,
    differences_of,
    fit_strengths,
    game_table,
    rate_agents,
)
from suphx.evaluation.tournament import choose_lineups
from tests.evaluation.synthetic_games import interval_of

ANCHOR = "rule"
NAMES = [ANCHOR, *(f"net-{number:02}" for number in range(1, 8))]
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


def uncertainty_of_the_second(games: list[RatedGame]) -> float:
    """Return the standard deviation of the difference between the two strongest agents."""
    table = game_table(games)
    anchor = table.agents.index(ANCHOR)
    strengths = fit_strengths(table.orders, len(table.agents), anchor=anchor)
    information = Derivatives(table.orders, strengths).information(np.ones(len(games)))
    variances = differences_of(table.agents.index(NAMES[-1]), covariance_of(information, anchor))
    return math.sqrt(variances[table.agents.index(NAMES[-2])])


def test_the_strength_of_two_agents_is_the_logarithm_of_their_wins() -> None:
    games = [RatedGame(deal, (ANCHOR, "net"), (1, 2) if deal < 250 else (2, 1)) for deal in range(1000)]
    ratings = rate_agents(games, anchor=ANCHOR)
    assert ratings[ANCHOR].rating == ANCHOR_RATING
    assert ratings["net"].rating == pytest.approx(ANCHOR_RATING + POINTS * math.log(750 / 250), abs=0.1)
    assert interval_of(ratings["net"]).low < ratings["net"].rating < interval_of(ratings["net"]).high
    assert ratings["net"].games == 1000


def test_chosen_pairs_show_sooner_who_is_the_best_and_nobody_is_unknown() -> None:
    chosen, alike = (play_night(100, is_chosen=is_chosen) for is_chosen in (True, False))
    assert uncertainty_of_the_second(chosen) < 0.7 * uncertainty_of_the_second(alike), "twice as many games otherwise"
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
