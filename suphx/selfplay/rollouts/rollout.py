"""Plays whole hanchans: any agents at any seats, many tables at a time, every game written down.

>>> logs = list(play_games([candidate, opponent], seating, seeds, tenhou()))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from suphx.games.riichi import GAME_END, GameLog, GameRecorder, Rules, Simulator
from suphx.kernel.record import I64
from suphx.selfplay.agents.agent import Agent, ask

DEFAULT_TABLES = 512
"""So many that a call of a small net costs little more than its rows do."""
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

    def forfeits(self, index: int) -> Mapping[int, str]:
        """Return seat -> why, of the seats in the game at table ``index`` that it could not play to the end."""
        ...


@dataclass(frozen=True, slots=True)
class Game:
    """A game to play."""

    seats: tuple[int, int, int, int]
    """The agent at each seat, as its index among the agents."""
    seed: int
    """Of the wall; equal seeds give equal walls."""
    id: str
    """Of the log."""


NoteForfeit = Callable[[Game, int, str], None]
"""Gets a game that has ended, a seat whose agent could not play it to the end, and why."""


def play_games(
    agents: Sequence[Agent],
    seating: NDArray[np.integer],
    seeds: Sequence[int],
    rules: Rules,
    *,
    num_tables: int = DEFAULT_TABLES,
    has_draw_lanes: bool = False,
    names: Sequence[str] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Iterator[GameLog]:
    """Play one game for each line of ``seating`` and yield them in that order.

    ``seating``: (n, 4), the agent (index into ``agents``) at each seat; ``seeds``: the wall seed of each game. The log
    of game i has the id ``<seed>-<i>``. The rest as in ``play_stream``. ValueError for a seating that does not fit.
    """
    lines = np.asarray(seating, np.int64)
    if lines.shape != (len(seeds), 4):
        raise ValueError(f"seating has the shape {lines.shape} for {len(seeds)} seeds: give four agents for each seed")
    if (outside := lines[(lines < 0) | (lines >= len(agents))]).size:
        raise ValueError(f"seating names agent {outside[0]}, but there are only {len(agents)}")
    games = list_games(lines, seeds)
    num_tables = min(num_tables, len(games))
    yield from play_stream(
        agents,
        iter(games),
        rules,
        num_tables=num_tables,
        has_draw_lanes=has_draw_lanes,
        names=names,
        progress=progress,
    )


def list_games(seating: I64, seeds: Sequence[int]) -> list[Game]:
    """Return a game for each line of ``seating`` (n, 4) and its seed."""
    lines = zip(seating.tolist(), seeds, strict=True)
    return [Game((a, b, c, d), seed, f"{seed}-{i}") for i, ((a, b, c, d), seed) in enumerate(lines)]


def play_stream(
    agents: Sequence[Agent],
    games: Iterator[Game],
    rules: Rules,
    *,
    num_tables: int = DEFAULT_TABLES,
    has_draw_lanes: bool = False,
    names: Sequence[str] | None = None,
    progress: Callable[[float], None] | None = None,
    note_forfeit: NoteForfeit = lambda game, seat, reason: None,
    simulator_type: type[Simulator] = Simulator,
) -> Iterator[GameLog]:
    """Play ``games`` and yield their logs in the order of the games.

    At most ``num_tables`` games are played side by side. A game is taken from ``games`` when a table is free, so that
    agents get many tables at a time until no game is left. With ``has_draw_lanes`` every seat draws from its own
    positions of the wall, so that games of one seed have more in common (docs/evaluation.md). ``names``: of the agents,
    for the logs; None: their own. ``progress`` is called with parts of games while they are played; their sum is the
    number of games. ``note_forfeit`` is called before the log of its game is yielded. ``simulator_type`` is another
    class for measurements, such as one with other walls.
    """
    followers = _followers(agents)
    num_tables = min([num_tables, *(follower.max_tables for follower in followers)])
    if num_tables < 1:
        return
    simulator = simulator_type(num_tables, rules, stops_at_kyoku_end=True, has_draw_lanes=has_draw_lanes)
    parts = GameParts(num_tables, progress)
    pool = _GamePool(agents, names or [agent.name for agent in agents], games, simulator, parts, note_forfeit)
    if not followers:
        yield from pool.play()
        return
    while pool.begin_games():
        try:
            for follower in followers:
                follower.follow(pool.recorder)
            yield from pool.play(refills=False)
        finally:
            for follower in followers:
                follower.leave()


def _followers(agents: Sequence[Agent]) -> list[GameFollower]:
    """Return the agents that follow games, each once: one may play several parts."""
    found: dict[int, GameFollower] = {id(agent): agent for agent in agents if isinstance(agent, GameFollower)}
    return list(found.values())


class GameParts:
    """Consumes: the tables whose kyoku has ended. Produces: calls of ``progress`` with parts of games."""

    def __init__(self, num_tables: int, progress: Callable[[float], None] | None) -> None:
        """``progress`` may be None: then nothing is counted."""
        self._kyokus = np.zeros(num_tables, np.int64)
        self._counted = np.zeros(num_tables)
        self._progress = progress

    def count(self, ended: I64, is_over: NDArray[np.bool_]) -> None:
        """Count kyokus that have ended at the tables ``ended``; ``is_over``: the game there, too."""
        if self._progress is None:
            return
        self._kyokus[ended] += 1
        done = np.where(is_over, 1.0, np.minimum(self._kyokus[ended] / _USUAL_KYOKUS, _MOST_OF_A_GAME))
        grown = float((done - self._counted[ended]).sum())
        self._counted[ended] = np.where(is_over, 0.0, done)
        self._kyokus[ended[is_over]] = 0
        if grown > 0:
            self._progress(grown)


class _GamePool:
    """Tables at which games are played; when one is free, the next game begins there."""

    def __init__(
        self,
        agents: Sequence[Agent],
        names: Sequence[str],
        games: Iterator[Game],
        simulator: Simulator,
        parts: GameParts,
        note_forfeit: NoteForfeit,
    ) -> None:
        self._agents, self._names = agents, names
        self._followers = _followers(agents)
        self._note_forfeit = note_forfeit
        self._games = enumerate(games)
        self._simulator = simulator
        self.recorder = GameRecorder(simulator)
        self._parts = parts
        self._seats = np.zeros((len(simulator.tables), 4), np.int64)
        self._running: dict[int, tuple[int, Game]] = {}
        """At each table that is not free: its game and the number of this."""
        self._finished: dict[int, GameLog] = {}
        """By the number of the game, until those before it are finished."""
        self._next = 0

    def begin_games(self) -> bool:
        """Begin games at the tables that are free; return whether any game is running."""
        free = [i for i in range(len(self._seats)) if i not in self._running]
        begun = dict(zip(free, self._games, strict=False)) if free else {}
        if begun:
            self._running |= begun
            tables = np.array(list(begun), np.int64)
            self._seats[tables] = [game.seats for _, game in begun.values()]
            self._simulator.reset([game.seed for _, game in begun.values()], tables)
            self.recorder.begin_kyokus(tables)
        return bool(self._running)

    def play(self, *, refills: bool = True) -> Iterator[GameLog]:
        """Play until no game is running; with ``refills`` new games begin at free tables."""
        if refills:
            self.begin_games()
        while (waiting := self._simulator.waiting()).size:
            self._decide(waiting)
            if self._end_kyokus() and refills:
                self.begin_games()
            while self._next in self._finished:
                yield self._finished.pop(self._next)
                self._next += 1

    def _decide(self, waiting: I64) -> None:
        """Make one decision at each of the tables ``waiting``."""
        tables = self._simulator.tables
        actions = np.zeros(waiting.shape, np.int16)
        players = self._seats[waiting, tables["actor"][waiting]]
        for number, agent in enumerate(self._agents):
            own = players == number
            if own.any():
                actions[own] = ask(agent, tables, waiting[own])
        self.recorder.advance(waiting, actions)

    def _end_kyokus(self) -> bool:
        """Record the deals that are over, and deal the next ones; return whether a game has ended."""
        ended = self._simulator.at_kyoku_end()
        if not ended.size:
            return False
        self.recorder.take_kyokus(ended)
        self._simulator.next_kyoku(ended)
        self.recorder.begin_kyokus(ended)
        is_over = self._simulator.tables["phase"][ended] == GAME_END
        self._parts.count(ended, is_over)
        for i in ended[is_over].tolist():
            number, game = self._running.pop(i)
            for follower in self._followers:
                for seat, reason in follower.forfeits(i).items():
                    self._note_forfeit(game, seat, reason)
            first, second, third, fourth = (self._names[seat] for seat in game.seats)
            self._finished[number] = self.recorder.finish(i, game.id, (first, second, third, fourth))
        return bool(is_over.any())
