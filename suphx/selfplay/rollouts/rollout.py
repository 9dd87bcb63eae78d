"""Plays whole games: any agents at any seats, many tables at a time, every game written down.

>>> logs = list(play_games([candidate, opponent], seating, seeds, tenhou()))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from suphx.games.game import Agent, Game, PlayedGame, Tables
from suphx.games.registry import DEFAULT_GAME, load_game
from suphx.kernel.record import I64
from suphx.selfplay.agents.agent import ask

DEFAULT_TABLES = 512
"""So many that a call of a small net costs little more than its rows do."""


@runtime_checkable
class GameFollower(Protocol):
    """What an agent has besides if it must know how a game came to where it is, or has something of its own there."""

    max_tables: int
    """Games that it can follow at a time."""

    def follow(self, tables: Any) -> None:
        """Begin with new games at ``tables`` (of riichi: a ``GameRecorder``)."""

    def leave(self) -> None:
        """End with these games, whether or not they are over."""

    def forfeits(self, index: int) -> Mapping[int, str]:
        """Return seat -> why, of the seats in the game at table ``index`` that it could not play to the end so far."""


@dataclass(frozen=True, slots=True)
class SeatedGame:
    """A game to play."""

    seats: tuple[int, ...]
    """The agent at each seat, as its index among the agents."""
    seed: int
    """Of the deal; equal seeds give equal deals."""
    id: str


NoteForfeit = Callable[[SeatedGame, int, str], None]
"""Gets a game that has ended, a seat whose agent could not play it to the end, and why; the first seat first."""


def play_games(
    agents: Sequence[Agent],
    seating: NDArray[np.integer],
    seeds: Sequence[int],
    rules: Any,
    *,
    game: str = DEFAULT_GAME,
    num_tables: int = DEFAULT_TABLES,
    names: Sequence[str] | None = None,
    progress: Callable[[float], None] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Iterator[Any]:
    """Play one game for each line of ``seating`` (n, seats), indices into ``agents``, and yield their records in that
    order.

    ``seeds``: of the deal of each game; game i has the id ``<seed>-<i>``. The rest as in ``play_stream``. ValueError
    for a seating that does not fit.
    """
    own: Game = load_game(game)
    lines, num_seats = np.asarray(seating, np.int64), len(own.seat_names)
    if lines.shape != (len(seeds), num_seats):
        raise ValueError(
            f"seating has the shape {lines.shape} for {len(seeds)} seeds: give {num_seats} agents for each seed"
        )
    if (outside := lines[(lines < 0) | (lines >= len(agents))]).size:
        raise ValueError(f"seating names agent {outside[0]}, but there are only {len(agents)}")
    games = list_games(lines, seeds)
    for played in play_stream(
        own,
        agents,
        iter(games),
        rules,
        num_tables=min(num_tables, len(games)),
        options=options,
        names=names,
        progress=progress,
    ):
        yield played.record


def play_deals(
    game: Game,
    rules: Any,
    candidate: Agent,
    opponent: Agent,
    seeds: Sequence[int],
    *,
    names: tuple[str, str] = ("candidate", "opponent"),
) -> list[PlayedGame]:
    """Play all games of the deals ``seeds`` side by side, and return them deal by deal (suphx/games/scoring.py)."""
    scoring = game.scoring
    seats = [np.where(scoring.candidate_seats(scoring.seatings[0], i), 0, 1) for i in range(len(seeds))]
    games = list_games(np.concatenate(seats), np.repeat(seeds, scoring.num_games()).tolist())
    return list(play_stream(game, (candidate, opponent), iter(games), rules, num_tables=len(games), names=names))


def list_games(seating: I64, seeds: Sequence[int]) -> list[SeatedGame]:
    """Return a game for each line of ``seating`` (n, seats) and its seed."""
    lines = zip(seating.tolist(), seeds, strict=True)
    return [SeatedGame(tuple(seats), seed, f"{seed}-{i}") for i, (seats, seed) in enumerate(lines)]


def play_stream(
    game: Game,
    agents: Sequence[Agent],
    games: Iterator[SeatedGame],
    rules: Any,
    *,
    num_tables: int = DEFAULT_TABLES,
    options: Mapping[str, Any] | None = None,
    names: Sequence[str] | None = None,
    progress: Callable[[float], None] | None = None,
    note_forfeit: NoteForfeit = lambda game, seat, reason: None,
) -> Iterator[PlayedGame]:
    """Play ``games`` and yield them in their order when they have ended.

    At most ``num_tables`` are played side by side; a game is taken from ``games`` when a table is free. ``options``: of
    the game's tables; ``names``: of the agents, for the records. ``progress`` gets parts of games, whose sum is the
    number of games; ``note_forfeit`` is called before its game is yielded.
    """
    # Each once: one agent may play several parts.
    followers = {id(agent): agent for agent in agents if isinstance(agent, GameFollower)}.values()
    num_tables = min([num_tables, *(follower.max_tables for follower in followers)])
    if num_tables < 1:
        return
    tables = game.open_tables(num_tables, rules, **(options or {}))
    pool = _GamePool(tables, num_tables, agents, names, games, progress, note_forfeit)
    if not followers:
        yield from pool.play()
        return
    while pool.begin_games():
        try:
            for follower in followers:
                follower.follow(tables)
            yield from pool.play(refills=False)
        finally:
            for follower in followers:
                follower.leave()


class _GamePool:
    """Tables at which games are played; when one is free, the next game begins there."""

    def __init__(
        self,
        tables: Tables,
        num_tables: int,
        agents: Sequence[Agent],
        names: Sequence[str] | None,
        games: Iterator[SeatedGame],
        progress: Callable[[float], None] | None,
        note_forfeit: NoteForfeit,
    ) -> None:
        self._tables, self._agents = tables, agents
        self._names = names or [agent.name for agent in agents]
        self._progress, self._note_forfeit = progress, note_forfeit
        self._games = enumerate(games)
        self._seats: I64 = np.zeros((num_tables, 0), np.int64)
        self._running: dict[int, tuple[int, SeatedGame]] = {}
        """At each table that is not free: its game and the number of this."""
        self._forfeits: dict[int, dict[int, str]] = {}
        """Table -> seat -> why, in the order of time."""
        self._finished: dict[int, PlayedGame] = {}
        """By the number of the game, until those before it are finished."""
        self._next = 0
        self._num_ended, self._told = 0, 0.0

    def begin_games(self) -> bool:
        """Begin games at the tables that are free; return whether any game is running."""
        free = [i for i in range(len(self._seats)) if i not in self._running]
        begun = dict(zip(free, self._games, strict=False)) if free else {}
        if begun:
            self._running |= begun
            tables, seats = np.array(list(begun), np.int64), [game.seats for _, game in begun.values()]
            if not self._seats.shape[1]:
                self._seats = np.zeros((len(self._seats), len(seats[0])), np.int64)
            self._seats[tables] = seats
            self._tables.begin(tables, [game.seed for _, game in begun.values()])
        return bool(self._running)

    def play(self, *, refills: bool = True) -> Iterator[PlayedGame]:
        """Play until no game is running; with ``refills`` new games begin at free tables."""
        if refills:
            self.begin_games()
        while (waiting := self._tables.waiting()).size:
            self._decide(waiting)
            has_ended = self._end_games()
            played = self._num_ended + float(self._tables.shares.sum())
            if self._progress is not None and played > self._told:
                self._progress(played - self._told)
                self._told = played
            if has_ended and refills:
                self.begin_games()
            while self._next in self._finished:
                yield self._finished.pop(self._next)
                self._next += 1

    def _decide(self, waiting: I64) -> None:
        tables = self._tables
        moves = np.zeros(waiting.shape, np.int64)
        players = self._seats[waiting, tables.actors(waiting)]
        for number, agent in enumerate(self._agents):
            own = players == number
            if own.any():
                indices = waiting[own]
                moves[own] = ask(agent, tables.state, indices, tables.num_moves)
                if isinstance(agent, GameFollower):
                    for index in indices.tolist():
                        found = self._forfeits.setdefault(index, {})
                        found |= {seat: why for seat, why in agent.forfeits(index).items() if seat not in found}
        tables.advance(waiting, moves)

    def _end_games(self) -> bool:
        """Take the games that are over; return whether there are any."""
        ended = self._tables.take_ended().tolist()
        for i in ended:
            number, game = self._running.pop(i)
            for seat, reason in self._forfeits.pop(i, {}).items():
                self._note_forfeit(game, seat, reason)
            self._finished[number] = self._tables.take_game(i, game.id, [self._names[seat] for seat in game.seats])
            self._tables.shares[i] = 0
        self._num_ended += len(ended)
        return bool(ended)
