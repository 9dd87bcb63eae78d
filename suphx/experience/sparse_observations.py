"""Observations on their way to another process: a quarter of the bytes, as most words of their rows are zero."""

from __future__ import annotations

from dataclasses import dataclass

from suphx.experience.observation import F32, Observations
from suphx.experience.sparse_planes import SparsePlanes
from suphx.kernel.record import I32, U8


@dataclass(frozen=True, slots=True)
class SparseObservations:
    """The columns of ``Observations``, with sparse rows."""

    head: int
    planes: SparsePlanes
    masks: U8
    policies: I32
    uniforms: F32

    @classmethod
    def of(cls, observations: Observations) -> SparseObservations:
        """Return what ``dense`` makes the same observations of."""
        rows = SparsePlanes.of(observations.planes)
        return cls(observations.head, rows, observations.masks, observations.policies, observations.uniforms)

    def dense(self) -> Observations:
        """Return the observations."""
        return Observations(self.head, self.planes.dense(), self.masks, self.policies, self.uniforms)
