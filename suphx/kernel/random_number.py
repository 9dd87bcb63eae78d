"""Random numbers for kernels: a counter, int64 (1,), that is mixed again for every number; and hashes of a game's seed
and a decision, so that equal seeds and nets give equal games."""

from __future__ import annotations

from suphx.kernel.jit import jit
from suphx.kernel.record import I64

_MASK32 = 0xFFFFFFFF
_TOP = 1 << 62


@jit
def mix(x: int) -> int:
    """Return 32 well mixed bits of a 32-bit number (Wellons' lowbias32 construction)."""
    x ^= x >> 16
    x = x * 0x7FEB352D & _MASK32
    x ^= x >> 15
    x = x * 0x846CA68B & _MASK32
    return x ^ x >> 16


@jit
def seed_counter(state: I64, seed: int) -> None:
    """Set the counter ``state`` (1,) to where the numbers of ``seed`` (0 <= seed < 2**62) begin."""
    state[0] = mix((seed & _MASK32) ^ mix(seed >> 32 & _MASK32))


@jit
def draw_number(state: I64, bound: int) -> int:
    """Return a number in 0 … bound - 1, ``bound`` < 2**31; its bias is below bound / 2**32."""
    return _draw_bits(state) * bound >> 32


@jit
def draw_large_number(state: I64, bound: int) -> int:
    """Return a number in 0 … bound - 1, ``bound`` <= 2**62, without bias."""
    fair = _TOP - _TOP % bound
    while True:
        number = _draw_bits(state) << 30 ^ _draw_bits(state) >> 2
        if number < fair:
            return number % bound


@jit
def shuffle(ids: I64, state: I64) -> None:
    """Bring ``ids`` into random order."""
    for i in range(len(ids) - 1, 0, -1):
        j = draw_number(state, i + 1)
        ids[i], ids[j] = ids[j], ids[i]


@jit
def _draw_bits(state: I64) -> int:
    state[0] = state[0] + 0x9E3779B9 & _MASK32
    return mix(mix(state[0]) ^ 0x5851F42D)


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
