"""Reproducible random numbers: hashes of a game's seed and a decision; equal seeds and nets give equal games."""

from __future__ import annotations

from suphx.kernel.jit import jit
from suphx.kernel.random_number import mix

_MASK32 = 0xFFFFFFFF
NUM_UNIFORMS = 1 << 24
"""Different numbers that ``uniform_of`` returns: multiples of its reciprocal."""


@jit
def uniform_of(seed: int, decision: int, observation: int) -> float:
    """Return a number in 0 … 1, 1 excluded, that follows from its arguments as if drawn at random."""
    x = (int(seed) & _MASK32) * 0x9E3779B1 & _MASK32
    x = mix((x ^ int(seed) >> 32) + int(decision) * 0x85EBCA6B & _MASK32)
    return (mix(x + int(observation) * 0xC2B2AE35 & _MASK32) >> 8) / NUM_UNIFORMS


@jit
def observation_number(head: int, candidate: int) -> int:
    """Return a number that no other observation of the same decision has."""
    return 256 * int(head) + int(candidate)
