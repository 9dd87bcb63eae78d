"""Decisions with their rewards, as columns: what a learner learns from (paper, section 3.1).

>>> first, rest = decisions.part(0, 512), decisions.part(512, len(decisions))
>>> joined([first, rest])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from suphx.experience.columns import Columns
from suphx.experience.observation import F32
from suphx.experience.sparse_planes import SparsePlanes
from suphx.kernel.record import I16, I32, U8

BOOL = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Decisions(Columns):
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

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all that ``from_arrays`` needs."""
        return {name: getattr(self, name) for name in _COLUMNS} | self.planes.arrays()

    @classmethod
    def from_arrays(cls, decision: int, arrays: Mapping[str, np.ndarray]) -> Decisions:
        """Return what ``arrays`` was made of."""
        return cls(decision, SparsePlanes.from_arrays(arrays), **{name: arrays[name] for name in _COLUMNS})

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


_COLUMNS = tuple(field.name for field in fields(Decisions) if field.name not in ("decision", "planes"))


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
