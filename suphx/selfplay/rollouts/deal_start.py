"""Starts of deals as they come up in games that an agent plays with itself: what adaptation is tested on."""

from __future__ import annotations

import numpy as np

from suphx.games.riichi import GAME_END, Simulator, tenhou
from suphx.games.riichi import MAX_SEED as MAX_SEED
from suphx.kernel.record import Records
from suphx.selfplay.agents.agent import Agent

_STARTS_PER_GAME = 4
_MIN_GAMES = 8


def draw_starts(agent: Agent, num_starts: int, *, seed: int) -> Records:
    """Return TABLE records (num_starts,): deals that have just begun, different ones, from all parts of games.

    The dealer is to act. ``seed``, 0 to ``MAX_SEED`` - 1, decides on the games and on which of their deals are taken.
    """
    draw = np.random.default_rng(seed)
    num_games = max(_MIN_GAMES, -(-num_starts // _STARTS_PER_GAME))
    starts: list[Records] = []
    while sum(len(part) for part in starts) < num_starts:
        starts += _play_starts(agent, draw.integers(MAX_SEED, size=num_games).tolist())
    whole = np.concatenate(starts)
    return whole[np.sort(draw.permutation(len(whole))[:num_starts])]


def _play_starts(agent: Agent, seeds: list[int]) -> list[Records]:
    """Return the starts of all deals of a game for each seed."""
    simulator = Simulator(len(seeds), tenhou(), stops_at_kyoku_end=True)
    simulator.reset(seeds)
    starts = [simulator.tables.copy()]
    while (waiting := simulator.waiting()).size:
        simulator.advance(waiting, agent.act(simulator.tables, waiting))
        ended = simulator.at_kyoku_end()
        simulator.next_kyoku(ended)
        starts.append(simulator.tables[ended[simulator.tables["phase"][ended] != GAME_END]])
    return starts
