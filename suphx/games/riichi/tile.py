"""Tiles of riichi: ids 0-135 and the 37 faces, which are the kinds and three red fives; names in mpsz notation.

A face is a kind (mahjong/tile.py), or 34, 35, 36 for the red 5m, 5p, 5s (written 0m, 0p, 0s). Ids 16, 52 and 88 are the
red fives. A set of red fives (``Table.red``) has bit i for the one of suit i.
"""

from __future__ import annotations

from collections.abc import Iterable

from suphx.games.mahjong.tile import join_names, kind_name, parse_names
from suphx.kernel.jit import jit

NUM_FACES = 37
FIRST_RED_FACE = 34
NUM_TILES = 136
RED_IDS = (16, 52, 88)
ALL_RED_FIVES = 7  # bit set of the three suits


@jit
def kind_of_face(face: int) -> int:
    """Return the kind (0-33) of a face (0-36)."""
    return 4 + 9 * (face - 34) if face >= 34 else face


@jit
def face_of_id(tile_id: int, red_fives: int) -> int:
    """Return the face (0-36) of a tile id (0-135); ``red_fives``: bit set of the suits in which 16, 52, 88 are red."""
    if (tile_id == 16 or tile_id == 52 or tile_id == 88) and red_fives >> (tile_id // 36) & 1:
        return 34 + tile_id // 36
    return tile_id >> 2


@jit
def is_five(kind: int) -> bool:
    """Tell whether a kind is one of the three fives, of which one tile may be red."""
    return kind < 27 and kind % 9 == 4


@jit
def dora_of_indicator(kind: int) -> int:
    """Return the kind that an indicator of ``kind`` makes dora (rule: the next one, in a ring)."""
    if kind < 27:
        return kind // 9 * 9 + (kind % 9 + 1) % 9
    if kind < 31:
        return 27 + (kind - 27 + 1) % 4
    return 31 + (kind - 31 + 1) % 3


def face_name(face: int) -> str:
    """Return the name of a face: ``"5m"``, ``"0p"`` (red), ``"7z"``."""
    return f"0{'mps'[face - FIRST_RED_FACE]}" if face >= FIRST_RED_FACE else kind_name(face)


_FACES = {face_name(face): face for face in range(NUM_FACES)}


def parse_faces(text: str) -> list[int]:
    """Return the faces of a text such as ``"340m22z"`` (0 = red five); ValueError for anything else."""
    return parse_names(text, _FACES)


def parse_kinds(text: str) -> list[int]:
    """Return the kinds of a text such as ``"345m22z"``; red fives count as fives."""
    return [kind_of_face(face) for face in parse_faces(text)]


def format_faces(faces: Iterable[int]) -> str:
    """Return faces in the short form, sorted by suit: ``"340m22z"``."""
    return join_names(face_name(face) for face in sorted(faces, key=lambda face: (kind_of_face(face), face)))


@jit
def is_red(face: int) -> bool:
    """Tell whether a face (0-36) is a red five."""
    return face >= FIRST_RED_FACE


@jit
def red_face(kind: int) -> int:
    """Return the face of the red five in the suit of ``kind`` (0-26)."""
    return FIRST_RED_FACE + kind // 9


@jit
def red_bit(face: int) -> int:
    """Return the bit of a red face (34-36) in a set of red fives."""
    return 1 << (face - FIRST_RED_FACE)


@jit
def num_red(reds: int, kind: int) -> int:
    """Return how many tiles of ``kind`` (0-33) are red in a hand that holds the set ``reds``: 1 or 0."""
    if is_five(kind):
        return reds >> (kind // 9) & 1
    return 0


@jit
def red_kinds(reds: int) -> int:
    """Return the kinds of a set of red fives, as bits."""
    return (reds & 1) << 4 | (reds >> 1 & 1) << 13 | (reds >> 2 & 1) << 22
