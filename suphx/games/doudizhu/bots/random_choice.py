"""The random agent."""

from __future__ import annotations

from suphx.games.doudizhu.engine.table import Table
from suphx.kernel.jit import jit
from suphx.kernel.random_number import mix

_MASK32 = 0xFFFFFFFF


@jit
def choose_index(t: Table, number: int) -> int:
    """Return one of 0 … ``number`` - 1 at random, from the game's seed and the number of its moves alone."""
    bits = mix((int(t.seed) * 0x9E3779B1 + int(t.num_moves) * 0x85EBCA6B) & _MASK32)
    return bits * number >> 32
