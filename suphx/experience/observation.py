"""What seats observe when they decide, and what the nets compute from it: columns of one head, for many tables at once.

All of it is plain numpy, so that simulators can send it to the processes that have the nets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suphx.kernel.record import I16, I32, I64, U8

F32 = NDArray[np.float32]

LATEST, WEAK, FIRST_OLDER = 0, 1, 2
"""Who plays a seat: the policy that learns, the weak one (SL-weak), and from 2 on older versions of the first."""


@dataclass(frozen=True, slots=True)
class Observations:
    """Rows for one head."""

    head: int
    planes: U8
    """uint8 [n, observation_bytes]: bit-packed planes."""
    masks: U8
    """uint8 [n, 34]: legal kinds of discards; [n, 0] for the other heads."""
    policies: I32
    """int32 [n]: which policy acts: LATEST, WEAK, or FIRST_OLDER + the number of an older version."""
    uniforms: F32
    """float32 [n] in 0 … 1: where in its distribution a sampled action lies. So the action of a row does not depend
    on what else is observed, nor on which process computes it."""

    def __len__(self) -> int:
        return len(self.planes)

    @property
    def num_bytes(self) -> int:
        """Bytes of all columns."""
        return self.planes.nbytes + self.masks.nbytes + self.policies.nbytes + self.uniforms.nbytes

    def take(self, rows: I64) -> Observations:
        """Return copies of ``rows`` int64 [k]."""
        planes, masks = self.planes[rows], self.masks[rows]
        return Observations(self.head, planes, masks, self.policies[rows], self.uniforms[rows])


def joined_observations(parts: Sequence[Observations]) -> Observations:
    """Return the rows of ``parts``, at least one and all of one head, one after another."""
    if len(parts) == 1:
        return parts[0]
    return Observations(
        head=parts[0].head,
        planes=np.concatenate([part.planes for part in parts]),
        masks=np.concatenate([part.masks for part in parts]),
        policies=np.concatenate([part.policies for part in parts]),
        uniforms=np.concatenate([part.uniforms for part in parts]),
    )


@dataclass(frozen=True, slots=True)
class PolicyOutputs:
    """The outputs of the nets for ``Observations``, row by row."""

    actions: I16
    """int16 [n]: a kind to discard; 1 = yes, 0 = no for the other heads."""
    scores: F32
    """float32 [n]: how sure a yes is, 0.5 … 1; of several at one table the highest counts. Unused for discards."""
    log_probs: F32
    """float32 [n]: log-probability of a sampled action; 0 for actions that were not sampled."""
    versions: I32
    """int32 [n]: policy version that computed it."""

    @classmethod
    def blank(cls, size: int, version: int) -> PolicyOutputs:
        """Return ``size`` rows of zeros, computed by ``version``, to be filled in."""
        zeros = np.zeros(size, np.float32)
        return cls(np.zeros(size, np.int16), zeros, zeros.copy(), np.full(size, version, np.int32))

    @property
    def num_bytes(self) -> int:
        """Bytes of all columns."""
        return self.actions.nbytes + self.scores.nbytes + self.log_probs.nbytes + self.versions.nbytes

    def part(self, start: int, stop: int) -> PolicyOutputs:
        """Return views of the rows from ``start`` to ``stop``."""
        rows = slice(start, stop)
        return PolicyOutputs(self.actions[rows], self.scores[rows], self.log_probs[rows], self.versions[rows])

    def put(self, rows: I64, part: PolicyOutputs) -> None:
        """Write ``part`` into ``rows`` int64 [k]."""
        self.actions[rows], self.scores[rows] = part.actions, part.scores
        self.log_probs[rows], self.versions[rows] = part.log_probs, part.versions

    def copied(self) -> PolicyOutputs:
        """Return copies, in memory that may be written to."""
        return PolicyOutputs(*map(np.array, (self.actions, self.scores, self.log_probs, self.versions)))
