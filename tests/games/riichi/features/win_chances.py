"""The look-ahead of one hand as numbers, which tests compare; the planes hold the same in steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suphx.games.mahjong.planes import count_masks
from suphx.games.riichi.features.hand_value import NO_CLAIM
from suphx.games.riichi.features.lookahead import CALLED, DRAWN, MAX_COLUMNS, SEARCH, find_ways
from suphx.games.riichi.features.paper_layout import LEVELS, MAX_CHANGED, PUBLIC
from suphx.games.riichi.features.public import fill_open_tiles
from suphx.games.riichi.features.suit_targets import load_lookup
from suphx.games.riichi.table import Table
from suphx.kernel.record import I64, Records


@dataclass(frozen=True, slots=True)
class WinChances:
    """What giving up each kind leads to: arrays (34, 3), by kind and new tiles (1, 2, 3); see lookahead.py.

    >>> chances = look_ahead(table, seat)
    >>> chances.points[kind_of_9p].max(), chances.chances[kind_of_9p, 0]
    """

    points: I64
    """Most points (a border of LEVELS) of a win by tsumo with just so many new tiles; 0 = none."""
    called_points: I64
    """The same by ron without riichi."""
    chances: NDArray[np.float64]
    """Share of the draws of just so many unseen tiles that win by tsumo."""
    high_chances: NDArray[np.float64]
    """The same for 7,700 points or more."""
    called_chances: NDArray[np.float64]
    """The same by ron without riichi."""


def look_ahead(table: np.void, seat: int, action: int = NO_CLAIM) -> WinChances:
    """Return the chances of ``seat`` (0-3) at one TABLE record, after the claim or kan ``action`` if there is one.

    Where the hand has no tile to discard all kinds have the same numbers. ValueError for another seat.
    """
    if not 0 <= seat < 4:
        raise ValueError(f"there is no seat {seat}: use 0 to 3")
    t: Any = table.view(np.recarray)
    typed: Table = t
    searches: Records = np.zeros(1, SEARCH)
    ways = np.zeros((3, MAX_CHANGED, MAX_COLUMNS), np.int64)
    unseen = fill_open_tiles(typed, seat, count_masks(t.hand[seat]), np.zeros(PUBLIC.observation_bytes, np.uint8))
    is_found = find_ways(load_lookup(), typed, seat, action, unseen, searches, ways)
    search = searches[0]
    columns = np.where(search["hand"] > 0, search["columns"], -1) if search["has_discard"] else np.zeros(34, np.int64)
    total = int(search["unseen"].sum())
    draws = np.array([total, total * (total - 1) // 2, total * (total - 1) * (total - 2) // 6])
    shares = np.divide(ways, draws[:, None], out=np.zeros(ways.shape), where=draws[:, None] > 0)
    reached = search["reached"] if is_found else np.zeros_like(search["reached"])
    by_kind = np.where(columns >= 0, shares[..., columns], 0).swapaxes(1, 2)
    points = [_points(reached[family], columns) for family in (DRAWN, CALLED)]
    return WinChances(points[0], points[1], by_kind[0], by_kind[1], by_kind[2])


def _points(reached: I64, columns: I64) -> I64:
    """Return the points (34, 3) of one family's columns by new tiles and level."""
    borders = np.array([0, *LEVELS])
    is_reached = reached[:, :, None] >> np.maximum(columns, 0) & 1 & (columns >= 0)
    points: I64 = (is_reached * borders[:, None]).max(axis=1).T
    return points
