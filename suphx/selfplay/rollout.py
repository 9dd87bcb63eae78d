"""Plays whole hanchans: any agents at any seats, many tables at a time, every game written down.

>>> logs = list(play_games([candidate, baseline], seating, seeds, tenhou()))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from suphx.riichi.game_recorder import GameRecorder
from suphx.riichi.gamelog import GameLog
from suphx.riichi.record import I64, Records
from suphx.riichi.rules import Rules
from suphx.riichi.simulator import Simulator
from suphx.riichi.table import GAME_END, KYOKU_END
from suphx.selfplay.agent import Agent

DEFAULT_TABLES = 256
_USUAL_KYOKUS = 12.0
_MOST_OF_A_GAME = 0.95


@runtime_checkable
class GameFollower(Protocol):
    """What an agent has besides if it must know how a game came to where it is, not only where it is."""

    max_tables: int
    """Games that it can follow at a time."""

    def follow(self, recorder: GameRecorder) -> None:
        """Begin with new games: those that ``recorder`` writes down."""
        ...

    def leave(self) -> None:
        """End with these games, whether or not they are over."""
        ...


def play_games(
    agents: Sequence[Agent],
    seating: NDArray[np.integer],
    seeds: Sequence[int],
    rules: Rules,
    *,
    num_tables: int = DEFAULT_TABLES,
    progress: Callable[[float], None] | None = None,
) -> Iterator[GameLog]:
    """Play one game for each line of ``seating`` and yield them in that order.

    ``seating``: (n, 4), the agent (index into ``agents``) at each seat; ``seeds``: the wall seed of each game, equal
    seeds give equal walls. At most ``num_tables`` games are under way at a time. The log of game i has the id
    ``<seed>-<i>`` and the agents' names. ``progress`` is called with parts of games while they are played: a batch of
    games ends at once, and their sum is the number of games. ValueError for a seating that does not fit.
    """
    lines = np.asarray(seating, np.int64)
    if lines.shape != (len(seeds), 4):
        raise ValueError(f"seating has the shape {lines.shape} for {len(seeds)} seeds: give four agents for each seed")
    if lines.size and not 0 <= lines.min() <= lines.max() < len(agents):
        raise ValueError(f"seating names agent {lines.max()}, but there are only {len(agents)}")
    num_tables = min([num_tables, *(agent.max_tables for agent in agents if isinstance(agent, GameFollower))])
    for start in range(0, len(seeds), num_tables):
        games = range(start, min(start + num_tables, len(seeds)))
        yield from _play_batch(agents, lines, seeds, games, rules, GameParts(len(games), progress))


class GameParts:
    """Consumes: the tables whose kyoku has ended. Produces: calls of ``progress`` with parts of games."""

    def __init__(self, num_games: int, progress: Callable[[float], None] | None) -> None:
        """``progress`` may be None: then nothing is counted."""
        self._kyokus = np.zeros(num_games, np.int64)
        self._progress = progress
        self._reported = 0.0

    def count(self, ended: I64, tables: Records) -> None:
        """Count kyokus that have ended at the tables ``ended``."""
        if self._progress is not None:
            self._kyokus[ended] += 1
            is_over = tables["phase"] == GAME_END
            done = float(np.where(is_over, 1.0, np.minimum(self._kyokus / _USUAL_KYOKUS, _MOST_OF_A_GAME)).sum())
            if done > self._reported:
                self._progress(done - self._reported)
                self._reported = done


def _play_batch(
    agents: Sequence[Agent], seating: I64, seeds: Sequence[int], games: range, rules: Rules, parts: GameParts
) -> Iterator[GameLog]:
    """Play one batch of games to the end of all, then yield them."""
    simulator = Simulator(len(games), rules, stops_at_kyoku_end=True)
    recorder = GameRecorder(simulator)
    simulator.reset([seeds[game] for game in games])
    recorder.begin_kyokus(np.arange(len(games)))
    seats = seating[games.start : games.stop]
    followers = [agent for agent in agents if isinstance(agent, GameFollower)]
    try:
        for follower in followers:
            follower.follow(recorder)
        _play_to_the_end(agents, seats, simulator, recorder, parts)
    finally:
        for follower in followers:
            follower.leave()
    for i, game in enumerate(games):
        first, second, third, fourth = (agents[seat].name for seat in seats[i])
        yield recorder.finish(i, f"{seeds[game]}-{game}", (first, second, third, fourth))


def _play_to_the_end(
    agents: Sequence[Agent], seats: I64, simulator: Simulator, recorder: GameRecorder, parts: GameParts
) -> None:
    tables = simulator.tables
    while (waiting := simulator.waiting()).size:
        actions = np.zeros(waiting.shape, np.int16)
        players = seats[waiting, tables["actor"][waiting]]
        for number, agent in enumerate(agents):
            own = players == number
            if own.any():
                actions[own] = agent.act(tables, waiting[own])
        recorder.advance(waiting, actions)
        _go_on(simulator, recorder, parts)
    assert (tables["phase"] == GAME_END).all()


def _go_on(simulator: Simulator, recorder: GameRecorder, parts: GameParts) -> None:
    """Record the deals that are over, and deal the next ones."""
    ended = np.flatnonzero(simulator.tables["phase"] == KYOKU_END)
    if ended.size:
        recorder.take_kyokus(ended)
        simulator.next_kyoku(ended)
        recorder.begin_kyokus(ended)
        parts.count(ended, simulator.tables)
