"""The spaces of one seat: its planes, packed or not, and the action table."""

from __future__ import annotations

import numpy as np
from gymnasium.spaces import Box

from suphx.games.mahjong.planes import NUM_COLUMNS, PlaneLayout
from suphx.games.riichi.table import NUM_ACTIONS


def planes_space(layout: PlaneLayout) -> Box:
    """Return the space of unpacked planes: uint8 [planes, 34] of 0 and 1."""
    return Box(0, 1, (layout.num_planes, NUM_COLUMNS), np.uint8)


def packed_space(layout: PlaneLayout) -> Box:
    """Return the space of packed planes: uint8 (observation_bytes,), bit ``plane * 34 + kind``, low bits first."""
    return Box(0, 255, (layout.observation_bytes,), np.uint8)


def mask_space() -> Box:
    """Return the space of legal actions: int8 (120,) of 0 and 1."""
    return Box(0, 1, (NUM_ACTIONS,), np.int8)
