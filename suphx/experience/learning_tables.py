"""What the learning tables of games (games/learning.py) have in common: seats, ended deals, and the saved state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suphx.experience.decisions import Decisions
from suphx.experience.observation import F32, LATEST
from suphx.experience.trajectory import TrajectoryStore, Unrewarded
from suphx.kernel.jit import jit
from suphx.kernel.random_number import uniform_of
from suphx.kernel.record import I32, I64


@dataclass(frozen=True, slots=True)
class Ended:
    """Deals that ended in a step: the ``EndedDeals`` of games/learning.py."""

    points: F32
    """float32 [deals, seats]: what each deal was worth."""
    decisions: tuple[Unrewarded, ...]
    """One for each kind that learns."""
    num_decisions: int
    """Tables that have played on."""
    num_games: int
    """Whole games that ended."""
    ends: Any = None
    """What the game's own rewards are made of."""

    @property
    def num_deals(self) -> int:
        """Deals that ended."""
        return len(self.points)

    def with_rewards(self, rewards: F32) -> list[Decisions]:
        """Return the decisions of each kind; ``rewards`` [deals, seats]. To be called before the next step."""
        return [part.with_rewards(rewards) for part in self.decisions]


@jit
def draw_seating(seeds: I64, tables: I64, borders: NDArray[np.float64], seating: I32) -> None:
    """Fill the rows ``tables`` of ``seating`` [tables, seats] with the policy of each seat in the games of ``seeds``.

    The latest policy has one seat at least. ``borders``: those of ``OpponentConfig``.
    """
    num_seats = seating.shape[1]
    for n in range(len(tables)):
        learner = int(num_seats * uniform_of(seeds[n], 0, 0))
        for seat in range(num_seats):
            uniform = uniform_of(seeds[n], 0, 1 + seat)
            policy = 0
            while uniform >= borders[policy]:
                policy += 1
            seating[tables[n], seat] = LATEST if seat == learner else policy


def saved_tables(
    arrays: Mapping[str, np.ndarray], stores: Sequence[TrajectoryStore], names: Sequence[str]
) -> dict[str, np.ndarray]:
    """Return copies of ``arrays`` and of what ``stores`` keep, under the ``names`` of their decisions."""
    state = dict(arrays)
    for store in stores:
        state |= {f"{names[store.decision]}.{name}": column for name, column in store.state().items()}
    return {name: column.copy() for name, column in state.items()}


def restore_stores(state: Mapping[str, np.ndarray], stores: Sequence[TrajectoryStore], names: Sequence[str]) -> None:
    """Give ``stores`` back what ``saved_tables`` has saved."""
    for store in stores:
        prefix = f"{names[store.decision]}."
        store.restore({name.removeprefix(prefix): part for name, part in state.items() if name.startswith(prefix)})
