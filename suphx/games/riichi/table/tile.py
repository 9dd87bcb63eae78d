"""Tiles: ids 0-135, kinds 0-33, and the 37 faces (kinds and the three red fives); names in mpsz notation.

Kinds: 1-9m = 0-8, 1-9p = 9-17, 1-9s = 18-26, East South West North Haku Hatsu Chun = 27-33 (1z-7z).
A face is a kind, or 34, 35, 36 for the red 5m, 5p, 5s (written 0m, 0p, 0s). Ids 16, 52 and 88 are the red fives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from suphx.kernel.jit import jit

NUM_KINDS = 34
NUM_FACES = 37
NUM_TILES = 136
EAST, SOUTH, WEST, NORTH, HAKU, HATSU, CHUN = range(27, 34)
TERMINALS_AND_HONOURS = (0, 8, 9, 17, 18, 26, 27, 28, 29, 30, 31, 32, 33)
HONOUR_BITS = 0x7F << 27  # bit sets of kinds
TERMINAL_AND_HONOUR_BITS = sum(1 << kind for kind in TERMINALS_AND_HONOURS)
GREEN_BITS = (1 << 19) | (1 << 20) | (1 << 21) | (1 << 23) | (1 << 25) | (1 << HATSU)
RED_IDS = (16, 52, 88)
ALL_RED_FIVES = 7  # bit set of the three suits

_GROUP = re.compile(r"([0-9]+)([mpsz])")


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
def is_simple(kind: int) -> bool:
    """Tell whether a kind is neither a terminal nor an honour."""
    return kind < 27 and 0 < kind % 9 < 8


@jit
def dora_of_indicator(kind: int) -> int:
    """Return the kind that an indicator of ``kind`` makes dora (rule: the next one, in a ring)."""
    if kind < 27:
        return kind // 9 * 9 + (kind % 9 + 1) % 9
    if kind < 31:
        return 27 + (kind - 27 + 1) % 4
    return 31 + (kind - 31 + 1) % 3


def parse_faces(text: str) -> list[int]:
    """Return the faces of a text such as ``"340m22z"`` (0 = red five); ValueError for anything else."""
    cleaned = text.replace(" ", "")
    faces: list[int] = []
    end = 0
    for match in _GROUP.finditer(cleaned):
        if match.start() != end:
            break
        end = match.end()
        faces += [_face(digit, match[2], text) for digit in match[1]]
    if end != len(cleaned):
        raise ValueError(f"{text!r} is not a list of tiles: write digits and a suit, such as 123m406p77z")
    return faces


def parse_kinds(text: str) -> list[int]:
    """Return the kinds of a text such as ``"345m22z"``; red fives count as fives."""
    return [kind_of_face(face) for face in parse_faces(text)]


def face_name(face: int) -> str:
    """Return the name of a face: ``"5m"``, ``"0p"`` (red), ``"7z"``."""
    if face >= 34:
        return "0" + "mps"[face - 34]
    return f"{face % 9 + 1}{'mpsz'[face // 9]}"


def format_faces(faces: Iterable[int]) -> str:
    """Return faces in the short form, sorted by suit: ``"340m22z"``."""
    ordered = sorted(faces, key=lambda face: (kind_of_face(face), face))
    names = [face_name(face) for face in ordered]
    groups = {suit: "".join(name[0] for name in names if name[1] == suit) for suit in "mpsz"}
    return "".join(digits + suit for suit, digits in groups.items() if digits)


def _face(digit: str, suit: str, text: str) -> int:
    number = int(digit)
    if suit == "z":
        if not 1 <= number <= 7:
            raise ValueError(f"{digit}z in {text!r} is no tile: honours are 1z to 7z")
        return 26 + number
    suit_index = "mps".index(suit)
    return 34 + suit_index if number == 0 else 9 * suit_index + number - 1
