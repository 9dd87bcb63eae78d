"""Ratings of games that are really played, on walls that four games share: three times the games beside a third."""

from __future__ import annotations

import random

import pytest

from benchmarks.shared_walls import HABITS, load_measured_agent
from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.rating import RatedGame, rate_agents
from suphx.evaluation.tournament import Player, TournamentSetup, play_tournament
from tests.evaluation.synthetic_games import ANCHOR, interval_of

NAMES = sorted([ANCHOR, "tsumogiri", *HABITS])
HANCHANS = 600
"""Of a night."""


def play_nights(number: int) -> list[list[RatedGame]]:
    """Return the games of each night; lineups are chosen by the games of all nights before."""
    players = [Player(name, name, name) for name in NAMES]
    nights: list[list[RatedGame]] = []
    for night in range(number):
        earlier = [game for games in nights for game in games]
        setup = TournamentSetup(players=players, anchor=ANCHOR, seed=night, earlier=earlier)
        nights.append(play_tournament(setup, HANCHANS // 4, runner=GameRunner(workers=2, load=load_measured_agent)))
    return nights


@pytest.mark.slow
def test_three_nights_move_no_rating_of_the_first_by_more_than_its_interval() -> None:
    nights = play_nights(3)
    games = [game for night in nights for game in night]
    early, late = rate_agents(nights[0], anchor=ANCHOR), rate_agents(games, anchor=ANCHOR)
    assert early.keys() == late.keys() == set(NAMES)
    left = 0
    for name, rating in early.items():
        width = interval_of(rating).high - interval_of(rating).low
        assert abs(late[name].rating - rating.rating) <= width
        left += not interval_of(rating).low <= late[name].rating <= interval_of(rating).high
        if name != ANCHOR:
            assert interval_of(late[name]).high - interval_of(late[name]).low < width
    assert left <= 1, "1.6 of 100 leave their interval by chance"
    assert late["tsumogiri"].rating == min(rating.rating for rating in late.values())
    mixed = games.copy()
    random.Random(1).shuffle(mixed)
    assert rate_agents(mixed, anchor=ANCHOR) == late, "in whatever order games come"
