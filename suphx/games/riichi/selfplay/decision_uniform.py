"""The random numbers of a decision at a table: quantiles of sampled actions, and seeds of the oracle's keep-masks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suphx.experience.sampling_uniform import NUM_UNIFORMS, observation_number, uniform_of
from suphx.kernel.jit import jit
from suphx.kernel.record import I64, Records

F32 = NDArray[np.float32]

_MASKS = 128  # more than any candidate's number, so that a mask and an action never share a number


@jit
def fill_uniforms(tables: Records, indices: I64, owners: I64, candidates: I64, head: int, uniforms: F32) -> None:
    """Fill ``uniforms`` float32 [n]: the quantile of the sampled action for each observation of ``head``."""
    for q in range(len(owners)):
        t = tables[indices[owners[q]]]
        uniforms[q] = uniform_of(t.wall_seed, 1 + t.num_decisions, observation_number(head, candidates[q]))


@jit
def fill_mask_seeds(tables: Records, indices: I64, candidates: I64, head: int, seeds: I64) -> None:
    """Fill ``seeds`` int64 [n] of the keep-masks (features/oracle_observation.py) of observations for ``head``."""
    for q in range(len(indices)):
        t = tables[indices[q]]
        number = observation_number(head, candidates[q] + _MASKS)
        seeds[q] = int(uniform_of(t.wall_seed, 1 + t.num_decisions, number) * NUM_UNIFORMS)
