"""The part of a game's contract for the option ``playouts``: actions of a decision are each tried on copies of the
table, which are played to the end of the deal.

All copies of a decision have the same walls and the same hidden hands. So most of the luck is the same in each of them,
and two actions after which nothing else changes differ by exactly 0. A net that learns from many decisions averages
over what is hidden (rollouts: Tesauro and Galperin 1996; a rollout set with common random numbers: Schulman and others
2015, arXiv 1502.05477, section 5.2, "vine").

>>> tried = tables.branch(0, rows, choices, probabilities, num_walls=4)  # of the first part of the last ``observe``
>>> points = tried.points()
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from suphx.experience.observation import F32, PolicyOutputs
from suphx.games.learning import LearningTables
from suphx.kernel.record import I16, I64, Records

NO_BRANCH = -1
"""Marks an unused branch in a row with fewer branches than others."""


@dataclass(frozen=True, slots=True)
class BranchTables(ABC):
    """Copies of tables, one for each action of a decision and each order of the undrawn tiles."""

    tables: Records
    """[m]: records as they were at the decision."""
    actions: I16
    """int16 [m]: the action, done first."""
    positions: I64
    """int64 [m]: to which of the n x k actions each belongs, counted along the rows."""
    num_decisions: int
    num_choices: int

    @abstractmethod
    def table_deals(self) -> I64:
        """Return a number for the deal of each copy, int64 [m]."""

    @abstractmethod
    def gains(self) -> NDArray[np.number]:
        """Let a scripted agent play on at all seats; return what the deciding seat won or lost on each copy, [m]."""

    def deals(self) -> I64:
        """Return a number for the deal of each decision, int64 [n]: as ``PlayoutTables.deals``."""
        found = np.zeros(self.num_decisions, np.int64)
        found[self.positions // self.num_choices] = self.table_deals()
        return found

    def points(self) -> F32:
        """Return the ``gains`` of each action, float32 [n, k]: the mean over the orders; 0 for NO_BRANCH."""
        count = self.num_decisions * self.num_choices
        num_orders = np.maximum(np.bincount(self.positions, minlength=count), 1)
        means = np.bincount(self.positions, weights=self.gains(), minlength=count) / num_orders
        return means.reshape(self.num_decisions, self.num_choices).astype(np.float32)


class PlayoutTables(LearningTables, Protocol):
    """The learning tables of a game with this option."""

    def counted(self, outputs: Sequence[PolicyOutputs]) -> list[NDArray[np.bool_]]:
        """Return which rows of the last ``observe`` are decided by these outputs, bool [n] for each part."""

    def deals(self) -> I64:
        """Return the numbers of the deals that the tables play now, int64 [tables]; no two deals have the same."""

    def branch(
        self, part: int, rows: I64, choices: I16, probabilities: Sequence[F32], *, num_walls: int = 1
    ) -> BranchTables:
        """Return copies of tables on which to try actions for the ``rows`` int64 [n] of a part of the last ``observe``.

        ``choices`` int16 [n, k]: answers of the net, or NO_BRANCH; ``probabilities``: of all answers, float32
        [rows, outputs] for each part. Every action is tried in ``num_walls`` orders of the undrawn tiles: first that of
        the game, then random ones, the same for all actions of a row. The tables stay as they are. ValueError for an
        answer that is not legal or cannot be tried.
        """
