"""Counts the tiles of a deal that a seat has seen, so that no tile can appear more often than there are.

>>> seen = SeenTiles()
>>> seen.add([face_of_name("5mr")])
>>> seen.add([face_of_name("5mr")])  # ValueError: there is one
"""

from __future__ import annotations

from collections.abc import Iterable

from suphx.games.riichi.records.mjai.mjai import TILE_NAMES
from suphx.games.riichi.table.tile import NUM_KINDS, is_five

_COPIES = tuple(1 if face >= NUM_KINDS else 3 if is_five(face) else 4 for face in range(len(TILE_NAMES)))


class SeenTiles:
    """Consumes: faces (0-36) that a seat sees for the first time. Produces: an error once there are too many."""

    def __init__(self) -> None:
        self._counts = [0] * len(TILE_NAMES)

    def add(self, faces: Iterable[int]) -> None:
        """Count new tiles; ValueError if more of a face have been seen than there are."""
        for face in faces:
            self._counts[face] += 1
            if self._counts[face] > _COPIES[face]:
                raise ValueError(f"tile {TILE_NAMES[face]} appears too often: there are {_COPIES[face]} of it")
