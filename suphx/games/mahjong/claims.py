"""Melds as records of tables keep them, and claims of discards by the numbers of moves, for games with these moves.

Moves have numbers one after another: kongs, 27 chows by their lowest kind from the number ``chow`` on, then pung, win
and pass.
"""

from __future__ import annotations

from typing import Protocol

from suphx.games.mahjong.tile import CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD, add_meld
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I16, U8

_CHOWS = 27
_NOBODY = -1


class Melds(Protocol):
    """What a record has of tiles and melds: counts by kind, and up to four melds of each seat."""

    hand: I8
    shown: I8
    num_melds: I8
    meld_type: I8
    meld_kind: I8


@jit
def claimed_meld(claimed: int, move: int, chow: int) -> tuple[int, int]:
    """Return the type and the lowest kind of the meld that the claim of a discard, a ``move``, makes."""
    if move >= chow + _CHOWS:
        return PON_MELD, claimed
    return (CHI_MELD, move - chow) if move >= chow else (MINKAN_MELD, claimed)


@jit
def lay_meld(t: Melds, seat: int, meld_type: int, lowest: int) -> None:
    """Add to the melds of a seat."""
    t.meld_type[seat, t.num_melds[seat]] = meld_type
    t.meld_kind[seat, t.num_melds[seat]] = lowest
    t.num_melds[seat] += 1


@jit
def lay_claimed_meld(t: Melds, seat: int, claimed: int, move: int, chow: int) -> int:
    """Lay down the meld that the claim of a discard makes, with tiles of the hand; return its type."""
    meld_type, lowest = claimed_meld(claimed, move, chow)
    t.hand[seat, claimed] += 1
    add_meld(t.hand[seat], meld_type, lowest, -1)
    add_meld(t.shown, meld_type, lowest, 1)
    lay_meld(t, seat, meld_type, lowest)
    return meld_type


@jit
def add_to_pung(t: Melds, seat: int, kind: int) -> None:
    """Make a pung a kong with the fourth tile of the hand."""
    for i in range(t.num_melds[seat]):
        if t.meld_kind[seat, i] == kind and t.meld_type[seat, i] == PON_MELD:
            t.meld_type[seat, i] = KAKAN_MELD
    t.hand[seat, kind] -= 1
    t.shown[kind] += 1


@jit
def list_chows(legal: U8, chow: int, hand: I8, claimed: int) -> bool:
    """Mark the chows that a hand can make with a suited kind; return whether there are any."""
    rank, has_chow = claimed % 9, False
    for lowest in range(claimed - min(rank, 2), claimed - max(rank - 6, 0) + 1):
        has_others = True
        for other in range(lowest, lowest + 3):
            has_others &= other == claimed or hand[other] > 0
        legal[chow + lowest] = has_others
        has_chow |= has_others
    return has_chow


@jit
def best_claimer(answers: I16, turn: int, chow: int) -> int:
    """Return the first seat after ``turn`` that wants a kong or a pung, else the one that wants a chow, or -1."""
    found = _NOBODY
    for offset in range(1, 4):
        seat = (turn + offset) % 4
        is_chow = chow <= answers[seat] < chow + _CHOWS
        if answers[seat] <= chow + _CHOWS and (found == _NOBODY or not is_chow):
            found = seat
    return found
