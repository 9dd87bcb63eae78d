"""Seeds of the walls of matches and tournaments."""

from __future__ import annotations

MAX_WALL_SEED = 1 << 20
_WALL_SEED_BASE = 1 << 40
"""Keeps the walls of matches apart from those of training games."""
WALLS_PER_SEED = 1 << 40


def wall_seeds(seed: int, num_walls: int) -> range:
    """Return the seeds of ``num_walls`` walls; different ``seed`` (0 to 2**20 - 1) never share one. ValueError else."""
    if not 0 <= seed < MAX_WALL_SEED:
        raise ValueError(f"seed is {seed}: use 0 to {MAX_WALL_SEED - 1}")
    first = _WALL_SEED_BASE + seed * WALLS_PER_SEED
    return range(first, first + num_walls)
