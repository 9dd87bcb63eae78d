"""All ways to read a complete hand as sets and a pair; thirteen orphans."""

from __future__ import annotations

from suphx.games.mahjong.tile import TERMINALS_AND_HONOURS
from suphx.kernel.jit import jit
from suphx.kernel.record import I8

MAX_READINGS = 16
TRIPLET = 34  # a set is coded as the lowest kind of a run, or TRIPLET + kind


@jit
def is_thirteen_orphans(hand: I8) -> bool:
    """Tell whether 14 tiles are one of each terminal and honour and one more of them."""
    tiles = 0
    for kind in TERMINALS_AND_HONOURS:
        if hand[kind] == 0:
            return False
        tiles += hand[kind]
    return tiles == 14


@jit
def read_hand(hand: I8, num_sets: int, readings: I8) -> int:
    """Write every reading of ``hand`` as ``num_sets`` sets and a pair to ``readings`` and return how many there are.

    ``hand`` is int8 (34,) of 3 * num_sets + 2 concealed tiles; a row of ``readings``, int8 (MAX_READINGS, 5), is the
    kind of the pair and then the codes of the sets (see TRIPLET).
    """
    found = 0
    for pair in range(34):
        if hand[pair] >= 2:
            hand[pair] -= 2
            found = _read_sets(hand, num_sets, pair, readings, found)
            hand[pair] += 2
    return found


@jit
def _read_sets(hand: I8, num_sets: int, pair: int, readings: I8, found: int) -> int:
    """Try every choice of suited kinds with three tiles as triplets; the rest must then be runs."""
    choices = 0
    for kind in range(27):
        if hand[kind] >= 3:
            choices += 1
    for choice in range(1 << choices):
        if found < MAX_READINGS and _read_choice(hand, num_sets, choice, readings[found]):
            readings[found, 0] = pair
            found += 1
    return found


@jit
def _read_choice(hand: I8, num_sets: int, choice: int, reading: I8) -> bool:
    """Write one reading without its pair: ``choice`` has a bit for each suited kind that could be a triplet."""
    n = 0
    for kind in range(27, 34):
        if hand[kind] == 3:
            if n == num_sets:
                return False
            n += 1
            reading[n] = TRIPLET + kind
        elif hand[kind] != 0:
            return False
    candidate = 0
    for suit in range(0, 27, 9):
        one = two = 0  # runs that still need this kind and the next; this kind
        for kind in range(suit, suit + 9):
            left = hand[kind] - one - two
            if hand[kind] >= 3:
                if choice >> candidate & 1:
                    if n == num_sets:
                        return False
                    n += 1
                    reading[n] = TRIPLET + kind
                    left -= 3
                candidate += 1
            if left < 0 or (left > 0 and kind - suit > 6) or n + left > num_sets:
                return False
            for _ in range(left):
                n += 1
                reading[n] = kind
            two = one
            one = left
        if one + two > 0:
            return False
    return n == num_sets
