"""Counts the tiles of a deal that a seat has seen, so that no tile can appear more often than there are.

>>> seen = SeenTiles()
>>> seen.add([face_of_name("5mr")])
>>> seen.add([face_of_name("5mr")])  # ValueError: there is one
"""

from __future__ import annotations

from collections.abc import Iterable

from suphx.games.riichi.records.mjai.mjai import TILE_NAMES
from suphx.games.riichi.table.tile import NUM_KINDS, is_five


class SeenTiles:
    """Consumes: faces (0-36) that a seat sees for the first time. Produces: an error once there are too many."""

    def __init__(self, *, has_red_fives: bool = True) -> None:
        self._counts = [0] * len(TILE_NAMES)
        self._copies = [4] * NUM_KINDS + [0] * (len(TILE_NAMES) - NUM_KINDS)
        if has_red_fives:
            self._copies = [4 - is_five(kind) for kind in range(NUM_KINDS)] + [1] * (len(TILE_NAMES) - NUM_KINDS)

    def add(self, faces: Iterable[int]) -> None:
        """Count new tiles; ValueError if more of a face have been seen than there are."""
        for face in faces:
            self._counts[face] += 1
            if self._counts[face] > self._copies[face]:
                raise ValueError(f"tile {TILE_NAMES[face]} appears too often: there are {self._copies[face]} of it")
