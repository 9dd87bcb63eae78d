"""Reproducible random numbers: hashes of a game's seed and a decision; equal seeds and nets give equal games."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suphx.kernel.jit import jit
from suphx.kernel.random_number import mix
from suphx.kernel.record import I64, Records

F32 = NDArray[np.float32]

_MASK32 = 0xFFFFFFFF
_NUM_UNIFORMS = 1 << 24
_MASKS = 128  # more than any candidate's number, so that a mask and an answer never share a number


@jit
def uniform_of(seed: int, decision: int, observation: int) -> float:
    """Return a number in 0 … 1, 1 excluded, that follows from its arguments as if drawn at random."""
    x = (int(seed) & _MASK32) * 0x9E3779B1 & _MASK32
    x = mix((x ^ int(seed) >> 32) + int(decision) * 0x85EBCA6B & _MASK32)
    return (mix(x + int(observation) * 0xC2B2AE35 & _MASK32) >> 8) / _NUM_UNIFORMS


@jit
def observation_number(head: int, candidate: int) -> int:
    """Return a number that no other observation of the same decision has."""
    return 256 * int(head) + int(candidate)


@jit
def fill_uniforms(tables: Records, indices: I64, owners: I64, candidates: I64, head: int, uniforms: F32) -> None:
    """Fill ``uniforms`` float32 [n]: the quantile of the sampled answer to each observation for ``head``."""
    for q in range(len(owners)):
        t = tables[indices[owners[q]]]
        uniforms[q] = uniform_of(t.wall_seed, 1 + t.num_decisions, observation_number(head, candidates[q]))


@jit
def fill_mask_seeds(tables: Records, indices: I64, candidates: I64, head: int, seeds: I64) -> None:
    """Fill ``seeds`` int64 [n] of the keep-masks (features/oracle_row.py) of observations for ``head``."""
    for q in range(len(indices)):
        t = tables[indices[q]]
        number = observation_number(head, candidates[q] + _MASKS)
        seeds[q] = int(uniform_of(t.wall_seed, 1 + t.num_decisions, number) * _NUM_UNIFORMS)
