"""Deals that a baseline plays at all seats, and that a candidate plays again at each seat: same wall, same scores.

>>> for game in play_branches(candidate, baseline, seeds, tenhou()):
...     gains = game.candidate - game.baseline  # points, [deals, 4]

Up to the first decision that the candidate makes differently both plays are the same, so only the rest is played again:
at that decision the table is copied, and the copy goes on with the candidate at its seat and the baseline at the three
others. A deal in which the candidate decides as the baseline does has the difference 0 and costs no second play. The
deals are those of whole hanchans of the baseline, so scores, honba and sticks at their start are as in real games.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suphx.riichi.record import I32, I64, Records
from suphx.riichi.rules import Rules
from suphx.riichi.simulator import Simulator
from suphx.riichi.table import KYOKU_END
from suphx.selfplay.agent import Agent
from suphx.selfplay.rollout import GameFollower, GameParts

DEFAULT_GAMES = 128
SEATS = 4
_TABLES = 1 + SEATS  # of a game: that of the baseline, and one for each seat of the candidate


@dataclass(frozen=True, slots=True)
class GameBranches:
    """The deals of one hanchan of the baseline."""

    baseline: I32
    """int32 [deals, 4]: points that each seat won or lost with the baseline at all seats."""
    candidate: I32
    """int32 [deals, 4]: points that each seat won or lost with the candidate there and the baseline elsewhere."""
    differs: NDArray[np.bool_]
    """[deals, 4]: the candidate decided differently at least once."""


def play_branches(
    candidate: Agent,
    baseline: Agent,
    seeds: Sequence[int],
    rules: Rules,
    *,
    num_games: int = DEFAULT_GAMES,
    progress: Callable[[float], None] | None = None,
) -> Iterator[GameBranches]:
    """Play a hanchan of ``baseline`` for each of ``seeds`` with all branches, and yield them in that order.

    At most ``num_games`` are under way at a time. ``progress`` is called with parts of games, whose sum is their
    number. ValueError for an agent that must follow whole games.
    """
    for agent in (candidate, baseline):
        if isinstance(agent, GameFollower):
            raise ValueError(f"{agent.name} follows whole games and cannot play a single deal again: play hanchans")
    for start in range(0, len(seeds), num_games):
        batch = seeds[start : start + num_games]
        yield from _Batch(candidate, baseline, batch, rules, GameParts(len(batch), progress)).play()


class _Batch:
    """Games side by side: table 5 g is that of game g, table 5 g + 1 + s its branch with the candidate at seat s."""

    def __init__(
        self, candidate: Agent, baseline: Agent, seeds: Sequence[int], rules: Rules, parts: GameParts
    ) -> None:  # fmt: skip
        self._candidate, self._baseline, self._parts = candidate, baseline, parts
        self._simulator = Simulator(_TABLES * len(seeds), rules, stops_at_kyoku_end=True)
        self._simulator.reset(np.repeat(seeds, _TABLES).tolist())
        self._tables: Records = self._simulator.tables
        self._main = np.arange(len(seeds)) * _TABLES
        self._tables["num_legal"][np.arange(len(self._tables)) % _TABLES > 0] = 0  # no branch is played yet
        self._has_branch = np.zeros((len(seeds), SEATS), np.bool_)
        self._start_scores = self._tables["scores"][self._main].copy()
        self._played: list[list[tuple[I32, I32, NDArray[np.bool_]]]] = [[] for _ in seeds]

    def play(self) -> list[GameBranches]:
        while (waiting := self._simulator.waiting()).size:
            self._decide(waiting)
            self._finish_deals()
        columns = [list(zip(*deals, strict=True)) for deals in self._played]
        return [GameBranches(*(np.stack(column) for column in game)) for game in columns]

    def _decide(self, waiting: I64) -> None:
        """Make one decision at each of the tables ``waiting``; begin a branch where the candidate differs."""
        tables = self._tables
        games, parts = waiting // _TABLES, waiting % _TABLES
        seats = tables["actor"][waiting].astype(np.int64)
        is_candidates = parts == 1 + seats
        is_compared = (parts == 0) & ~self._has_branch[games, seats]
        actions = np.zeros(waiting.shape, np.int16)
        actions[~is_candidates] = self._baseline.act(tables, waiting[~is_candidates])
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
        main = self._main[ended]
        scores = self._tables["scores"].reshape(-1, _TABLES, SEATS)[ended]
        own = scores[:, 1:].diagonal(axis1=1, axis2=2)
        points = scores[:, 0] - self._start_scores[ended]
        changed = np.where(self._has_branch[ended], own - self._start_scores[ended], points)
        for i, game in enumerate(ended):
            self._played[game].append((points[i], changed[i], self._has_branch[game].copy()))
        self._has_branch[ended] = False
        self._simulator.next_kyoku(main)
        self._start_scores[ended] = self._tables["scores"][main]
        self._parts.count(ended, self._tables[self._main])
