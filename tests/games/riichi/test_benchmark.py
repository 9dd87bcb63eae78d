"""Walls by the number of deals before them."""

from __future__ import annotations

import numpy as np

from suphx.games.riichi.benchmark import OrdinalWallSimulator
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.replay import Replayer
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.table import DEALT, shuffle_wall
from suphx.games.riichi.tables import ScriptedAgent
from suphx.selfplay.rollouts.rollout import play_games

SEED = 11


def play() -> list[GameLog]:
    """Return the four games of a wall, one candidate against three others."""
    agents = [ScriptedAgent("ukeire"), ScriptedAgent("tsumogiri")]
    seating, options = 1 - np.eye(4, dtype=np.int64), {"simulator_type": OrdinalWallSimulator}
    return list(play_games(agents, seating, [SEED] * 4, tenhou(), options=options))


def test_the_wall_of_a_deal_follows_from_the_number_of_deals_before_it() -> None:
    games = play()
    wall = np.empty(136, np.int16)
    for log in games:
        for number, kyoku in enumerate(log.kyokus):
            shuffle_wall(SEED, 0, number, wall)
            assert kyoku.wall[:DEALT].tolist() == wall[:DEALT].tolist()
    assert any(kyoku.honba for log in games for kyoku in log.kyokus), "a number that is not that of the kyoku"


def test_games_with_such_walls_replay_without_difference() -> None:
    replayer = Replayer()
    assert all(replayer.replay(log) == [] for log in play())
