"""Deals that an opponent plays at all seats, and that a candidate plays again at each seat: same wall, same scores.

>>> for game in play_branches(candidate, opponent, seeds, tenhou()):
...     gains = game.candidate - game.opponent  # points, [deals, 4]

Up to the first decision that the candidate makes differently both plays are the same, so only the rest is played again:
at that decision the table is copied, and the copy goes on with the candidate at its seat and the opponent at the three
others. A deal in which the candidate decides as the opponent does has the difference 0 and costs no second play. The
deals are those of whole hanchans of the opponent, so scores, honba and sticks at their start are as in real games.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suphx.games.riichi import GAME_END, KYOKU_END, Rules, Simulator
from suphx.kernel.record import I32, I64, Records
from suphx.selfplay.agents.agent import Agent
from suphx.selfplay.rollouts.rollout import GameFollower, GameParts

DEFAULT_GAMES = 512
SEATS = 4
_TABLES = 1 + SEATS  # of a game: that of the opponent, and one for each seat of the candidate


@dataclass(frozen=True, slots=True)
class GameBranches:
    """The deals of one hanchan of the opponent."""

    opponent: I32
    """int32 [deals, 4]: points that each seat won or lost with the opponent at all seats."""
    candidate: I32
    """int32 [deals, 4]: points that each seat won or lost with the candidate there and the opponent elsewhere."""
    differs: NDArray[np.bool_]
    """[deals, 4]: the candidate decided differently at least once."""


def play_branches(
    candidate: Agent,
    opponent: Agent,
    seeds: Iterable[int],
    rules: Rules,
    *,
    num_games: int = DEFAULT_GAMES,
    has_draw_lanes: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Iterator[GameBranches]:
    """Play a hanchan of ``opponent`` for each of ``seeds`` with all branches, and yield them in that order.

    At most ``num_games`` are played side by side; a seed is taken from ``seeds`` when the next game can begin.
    With ``has_draw_lanes`` every seat draws from its own positions of the wall, so that branches have more in common
    with the game (docs/evaluation.md). ``progress`` is called with parts of games, whose sum is their number.
    ValueError for an agent that must follow whole games, or keeps what it needs by table (``needs_same_table``).
    """
    for agent in (candidate, opponent):
        if isinstance(agent, GameFollower) or getattr(agent, "needs_same_table", False):
            raise ValueError(f"{agent.name} follows whole games and cannot play a single deal again: play hanchans")
    simulator = Simulator(_TABLES * num_games, rules, stops_at_kyoku_end=True, has_draw_lanes=has_draw_lanes)
    yield from _BranchPool(candidate, opponent, iter(seeds), simulator, GameParts(num_games, progress)).play()


_Deal = tuple[I32, I32, NDArray[np.bool_]]


class _BranchPool:
    """Games side by side: table 5 g is that of game g, table 5 g + 1 + s its branch with the candidate at seat s.

    When a game ends, the next one begins at its tables.
    """

    def __init__(
        self,
        candidate: Agent,
        opponent: Agent,
        seeds: Iterator[int],
        simulator: Simulator,
        parts: GameParts,
    ) -> None:
        num_games = len(simulator.tables) // _TABLES
        self._candidate, self._opponent, self._parts = candidate, opponent, parts
        self._seeds = enumerate(seeds)
        self._simulator = simulator
        self._tables: Records = simulator.tables
        self._has_branch = np.zeros((num_games, SEATS), np.bool_)
        self._start_scores = np.zeros((num_games, SEATS), np.int32)
        self._numbers = np.zeros(num_games, np.int64)
        """Of the game at each slot, in the order of the seeds."""
        self._deals: list[list[_Deal]] = [[] for _ in range(num_games)]
        self._finished: dict[int, GameBranches] = {}
        """By the number of the game, until those before it are finished."""

    def play(self) -> Iterator[GameBranches]:
        next_number = 0
        self._begin_games(np.arange(len(self._deals)))
        while (waiting := self._simulator.waiting()).size:
            self._decide(waiting)
            self._finish_deals()
            while next_number in self._finished:
                yield self._finished.pop(next_number)
                next_number += 1

    def _begin_games(self, free: I64) -> None:
        """Begin games at the slots ``free`` while there are any."""
        begun = list(zip(free.tolist(), self._seeds, strict=False))
        if not begun:
            return
        slots = np.array([slot for slot, _ in begun], np.int64)
        self._numbers[slots] = [number for _, (number, _) in begun]
        self._simulator.reset([seed for _, (_, seed) in begun], _TABLES * slots)
        self._start_scores[slots] = self._tables["scores"][_TABLES * slots]

    def _decide(self, waiting: I64) -> None:
        """Make one decision at each of the tables ``waiting``; begin a branch where the candidate differs."""
        tables = self._tables
        games, parts = waiting // _TABLES, waiting % _TABLES
        seats = tables["actor"][waiting].astype(np.int64)
        is_candidates = parts == 1 + seats
        is_compared = (parts == 0) & ~self._has_branch[games, seats]
        actions = np.zeros(waiting.shape, np.int16)
        actions[~is_candidates] = self._opponent.act(tables, waiting[~is_candidates])
        wishes = actions.copy()
        is_asked = is_candidates | is_compared
        wishes[is_asked] = self._candidate.act(tables, waiting[is_asked])
        actions[is_candidates] = wishes[is_candidates]
        branching = np.flatnonzero(wishes != actions)
        branches = waiting[branching] + 1 + seats[branching]
        tables[branches] = tables[waiting[branching]]
        self._has_branch[games[branching], seats[branching]] = True
        self._simulator.advance(np.concatenate([waiting, branches]), np.concatenate([actions, wishes[branching]]))

    def _finish_deals(self) -> None:
        """Count the deals that are over at all tables of their game, and deal the next ones."""
        is_over = (self._tables["phase"] == KYOKU_END).reshape(-1, _TABLES)
        ended = np.flatnonzero(is_over[:, 0] & (is_over[:, 1:] | ~self._has_branch).all(axis=1))
        if not ended.size:
            return
        main = _TABLES * ended
        scores = self._tables["scores"].reshape(-1, _TABLES, SEATS)[ended]
        own = scores[:, 1:].diagonal(axis1=1, axis2=2)
        points = scores[:, 0] - self._start_scores[ended]
        changed = np.where(self._has_branch[ended], own - self._start_scores[ended], points)
        for i, game in enumerate(ended):
            self._deals[game].append((points[i], changed[i], self._has_branch[game].copy()))
        self._has_branch[ended] = False
        self._simulator.next_kyoku(main)
        self._start_scores[ended] = self._tables["scores"][main]
        game_is_over = self._tables["phase"][main] == GAME_END
        self._parts.count(ended, game_is_over)
        if game_is_over.any():
            self._finish_games(ended[game_is_over])

    def _finish_games(self, slots: I64) -> None:
        for slot in slots.tolist():
            columns = zip(*self._deals[slot], strict=True)
            self._finished[int(self._numbers[slot])] = GameBranches(*(np.stack(column) for column in columns))
            self._deals[slot] = []
        self._begin_games(slots)
