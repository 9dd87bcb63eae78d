"""Concealed hands of a table: tiles by kind (``Table.hand``), and which red fives are among them (``Table.red``)."""

from __future__ import annotations

from suphx.games.riichi.table.red_five import is_red, red_bit
from suphx.games.riichi.table.table import Table
from suphx.games.riichi.table.tile import kind_of_face
from suphx.kernel.jit import jit


@jit
def add_to_hand(t: Table, seat: int, face: int) -> None:
    """Put a tile (face 0-36) into the hand of a seat."""
    t.hand[seat, kind_of_face(face)] += 1
    if is_red(face):
        t.red[seat] |= red_bit(face)


@jit
def remove_from_hand(t: Table, seat: int, face: int) -> None:
    """Take a tile (face 0-36) that a seat holds out of its hand."""
    t.hand[seat, kind_of_face(face)] -= 1
    if is_red(face):
        t.red[seat] &= ~red_bit(face)
