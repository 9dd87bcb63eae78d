"""Decisions with their rewards, as columns: what a learner learns from (paper, section 3.1).

>>> first, rest = decisions.part(0, 512), decisions.part(512, len(decisions))
>>> concatenate([first, rest])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from suphx.experience.observation import F32
from suphx.experience.sparse_planes import SparsePlanes, concatenate_planes
from suphx.kernel.record import I16, I32, I64, U8

BOOL = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions of one kind with their rewards: what a learner learns from."""

    decision: int
    """Number of the kind in the game."""
    planes: SparsePlanes
    """n rows, as in ``Observations``."""
    masks: U8
    """uint8 [n, choices], or [n, 0]."""
    actions: I16
    """int16 [n]: the sampled actions: a choice, or 1 = yes and 0 = no."""
    is_overruled: BOOL
    """bool [n]: a yes that was not done, because a surer claim or kan of the same seat, or another seat's claim or win,
    went first. All other actions were done: a yes without this mark is an action of the game, a no is none. For
    comparisons with records; the loss does not use it (docs/self-play.md)."""
    is_joint: BOOL
    """bool [n]: decided at the same time as the row before it in its trajectory: the net was asked about several claims
    or kans. Their order has no meaning: together they are one step of a trajectory (policy_gradient.py)."""
    log_probs: F32
    """Of the behaviour policy."""
    versions: I32
    """Of the behaviour policy."""
    rewards: F32
    """Points."""
    is_last: BOOL
    """bool [n]: the last decision of a seat in its deal. The rows of a seat in a deal follow one another in order of
    play."""

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def num_bytes(self) -> int:
        """Size of all columns."""
        return self.planes.nbytes + sum(column.nbytes for column in self.columns().values())

    def columns(self) -> dict[str, np.ndarray]:
        """Return the columns by name, without the rows."""
        return {name: getattr(self, name) for name in _COLUMNS}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all that ``from_arrays`` needs."""
        return self.columns() | self.planes.arrays()

    @classmethod
    def from_arrays(cls, decision: int, arrays: Mapping[str, np.ndarray]) -> Decisions:
        """Return what ``arrays`` was made of."""
        return cls(decision, SparsePlanes.from_arrays(arrays), **{name: arrays[name] for name in _COLUMNS})

    def copied(self) -> Decisions:
        """Return a copy that shares no memory with this one."""
        return self._of_each(lambda part: part.copied(), np.array)

    def part(self, start: int, stop: int) -> Decisions:
        """Return the lines ``start`` up to ``stop``, at most to the end, without copying them."""
        stop = min(stop, len(self))
        return self._of_each(lambda part: part.part(start, stop), lambda column: column[start:stop])

    def trajectory_end(self, num_decisions: int) -> int:
        """Return the number of lines up to the first end of a trajectory at or after ``num_decisions``, at most all."""
        if not 0 < num_decisions < len(self):
            return min(num_decisions, len(self))
        return num_decisions + int(self.is_last[num_decisions - 1 :].argmax())

    def with_permuted_rewards(self, seed: Sequence[int]) -> Decisions:
        """Return the decisions with the rewards of whole trajectories shuffled, from which nothing can be learned."""
        is_first = np.append(np.ones(min(1, len(self)), np.bool_), self.is_last[:-1])
        permuted = np.random.default_rng(seed).permutation(self.rewards[is_first])
        return replace(self, rewards=permuted[np.cumsum(is_first) - 1])

    def split(self, num_parts: int) -> list[Decisions]:
        """Return ``num_parts`` parts of whole trajectories, as even as these allow, perhaps empty ones; no copies."""
        borders = [self.trajectory_end(-(-len(self) * number // num_parts)) for number in range(num_parts + 1)]
        return [self.part(start, stop) for start, stop in pairwise(borders)]

    def take(self, indices: I64) -> Decisions:
        """Return copies of the lines ``indices``."""
        return self._of_each(lambda part: part.take(indices), lambda column: column[indices])

    def _of_each(
        self, rows: Callable[[SparsePlanes], SparsePlanes], column: Callable[[np.ndarray], np.ndarray]
    ) -> Decisions:
        columns = {name: column(own) for name, own in self.columns().items()}
        return Decisions(self.decision, rows(self.planes), **columns)


_COLUMNS = tuple(field.name for field in fields(Decisions) if field.name not in ("decision", "planes"))


def concatenate(parts: Sequence[Decisions]) -> Decisions:
    """Return the lines of all ``parts``, one or more of one kind, one after another."""
    if len(parts) == 1:
        return parts[0]
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS}
    return Decisions(parts[0].decision, concatenate_planes([part.planes for part in parts]), **columns)


def no_decisions(decision: int, observation_bytes: int, num_choices: int) -> Decisions:
    """Return none of a kind, whose masks have ``num_choices`` columns: 0 for yes and no."""
    return Decisions(
        decision=decision,
        planes=SparsePlanes.none(observation_bytes),
        masks=np.zeros((0, num_choices), np.uint8),
        actions=np.zeros(0, np.int16),
        is_overruled=np.zeros(0, np.bool_),
        is_joint=np.zeros(0, np.bool_),
        log_probs=np.zeros(0, np.float32),
        versions=np.zeros(0, np.int32),
        rewards=np.zeros(0, np.float32),
        is_last=np.zeros(0, np.bool_),
    )
