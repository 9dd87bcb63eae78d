"""Fans that the sets and the pair of a reading make, by the five principles of counting (docs/mcr.md).

Chows are 21 counters of three bits, by 7 * suit + lowest rank; pungs, kongs included, are a bit set of kinds. A list
of chows is one integer: five bits for each, 8 * suit + lowest rank, in ascending order. Results are (large, small) as
in fan_table.py.
"""

from __future__ import annotations

from suphx.games.mahjong.planes import count_bits
from suphx.games.mahjong.tile import TERMINAL_AND_HONOUR_BITS
from suphx.games.mcr import fan_table as fan
from suphx.games.mcr.fan_table import large_fan, lowest_bit, small_fan
from suphx.kernel.jit import jit

_SUITED_BITS = (1 << 27) - 1
_WIND_BITS, _DRAGON_BITS = 0xF << 27, 0x7 << 31
_SUIT = 0x1FF
_LISTED = 5


def _in_all_suits(*ranks: int) -> int:
    return sum(1 << 9 * suit + rank - 1 for suit in range(3) for rank in ranks)


def _chows_from(*ranks: int) -> int:
    """Return the counters of the chows with these lowest ranks."""
    return sum(7 << 3 * (7 * suit + rank - 1) for suit in range(3) for rank in ranks)


_EVEN_BITS, _FIVE_BITS = _in_all_suits(2, 4, 6, 8), _in_all_suits(5)
_RUN_OF_3, _RUN_OF_4 = _in_all_suits(1, 2, 3, 4, 5, 6, 7), _in_all_suits(1, 2, 3, 4, 5, 6)  # their lowest ranks
_FIVE_CHOWS, _END_CHOWS = _chows_from(3, 4, 5), _chows_from(1, 7)
_TERMINAL_CHOWS = 1 | 1 << 18  # 123 and 789 of a suit


@jit
def fans_of_sets(chows: int, pungs: int, pair: int, round_wind: int, seat_wind: int) -> tuple[int, int]:
    """Return the fans of four sets and the kind of the pair; winds are 0 to 3."""
    large, small = fans_of_chows(chows)
    if pungs:
        more_large, more_small = fans_of_pungs(pungs, pair, round_wind, seat_wind)
        large |= more_large
        small += more_small
    bits = pungs | 1 << pair
    if chows == 0:
        large |= large_fan(fan.ALL_PUNGS)
        if bits & ~_EVEN_BITS == 0:
            large |= large_fan(fan.ALL_EVEN_PUNGS)
    elif pungs == 0:
        large |= _fans_of_four_chows(chows, pair)
    if chows & ~_FIVE_CHOWS == 0 and bits & ~_FIVE_BITS == 0:
        large |= large_fan(fan.ALL_FIVE)
    if chows & ~_END_CHOWS == 0 and bits & ~TERMINAL_AND_HONOUR_BITS == 0:
        large |= large_fan(fan.OUTSIDE_HAND)
    return large, small


@jit
def _fans_of_four_chows(chows: int, pair: int) -> int:
    """Return the large fans of four chows and their pair."""
    if pair >= 27:
        return 0
    large = large_fan(fan.ALL_CHOWS)
    suit = pair // 9
    if pair % 9 == 4:
        if chows == 2 * _TERMINAL_CHOWS << 21 * suit:
            large |= large_fan(fan.PURE_TERMINAL_CHOWS)
        others = _TERMINAL_CHOWS | _TERMINAL_CHOWS << 21 | _TERMINAL_CHOWS << 42
        if chows == others & ~(_TERMINAL_CHOWS << 21 * suit):
            large |= large_fan(fan.THREE_SUITED_TERMINAL_CHOWS)
    return large


@jit
def fans_of_chows(chows: int) -> tuple[int, int]:
    """Return the fans that up to four chows make with each other: of four, or of three and one more, or of two."""
    listed = number = 0
    rest = chows
    while rest:
        index = lowest_bit(rest) // 3
        listed |= index + index // 7 << _LISTED * number  # 8 * suit + lowest rank
        number += 1
        rest -= 1 << 3 * index
    if number < 2:
        return 0, 0
    if number == 4:
        large = _fan_of_four(listed)
        if large:
            return large, 0
    best_large = best_small = 0
    if number >= 3:
        best = 0
        for i in range(4 if number == 4 else 1):
            left_out = i if number == 4 else 3
            below = (1 << _LISTED * left_out) - 1
            three = listed & below | listed >> _LISTED & ~below
            triple = _fan_of_three(three)
            if triple:
                # Account-once: the fourth chow is combined with one of the three at most.
                pair_fan = _best_relation(three, listed >> _LISTED * left_out & 31) if number == 4 else 0
                worth = 2 * fan.VALUES[triple] + (pair_fan > 0)
                if worth > best:
                    best = worth
                    best_large = large_fan(triple)
                    best_small = small_fan(pair_fan) if pair_fan else 0
    if best_large:
        return best_large, best_small
    return 0, _fans_of_two(listed, number)


@jit
def _chow(listed: int, i: int) -> int:
    return listed >> _LISTED * i & 31


@jit
def _fan_of_four(listed: int) -> int:
    """Return the fan of four chows in ascending order, as a bit, or 0."""
    first, last = _chow(listed, 0), _chow(listed, 3)
    if first >> 3 != last >> 3:
        return 0
    a, b, c = _chow(listed, 1) - first, _chow(listed, 2) - _chow(listed, 1), last - _chow(listed, 2)
    if a != b or b != c or a > 2:
        return 0
    return large_fan(fan.QUADRUPLE_CHOW) if a == 0 else large_fan(fan.FOUR_PURE_SHIFTED_CHOWS)


@jit
def _fan_of_three(listed: int) -> int:
    """Return the number of the fan that three chows in ascending order make, or 0."""
    x, y, z = _chow(listed, 0), _chow(listed, 1), _chow(listed, 2)
    first, second, third = x >> 3, y >> 3, z >> 3
    if first == third:
        step = y - x
        if z - y != step or step > 3:
            return 0
        if step == 0:
            return fan.PURE_TRIPLE_CHOW
        return fan.PURE_STRAIGHT if step == 3 else fan.PURE_SHIFTED_CHOWS
    if first == second or second == third:
        return 0
    x, y, z = x & 7, y & 7, z & 7
    low, high = min(x, y, z), max(x, y, z)
    if 2 * (x + y + z) != 3 * (low + high):
        return 0
    if high == low:
        return fan.MIXED_TRIPLE_CHOW
    if high - low == 2:
        return fan.MIXED_SHIFTED_CHOWS
    return fan.MIXED_STRAIGHT if high - low == 6 else 0


@jit
def _relation(x: int, y: int) -> int:
    """Return the number of the fan that two chows in ascending order make, or 0."""
    distance = y - x
    if x >> 3 == y >> 3:
        if distance == 0:
            return fan.PURE_DOUBLE_CHOW
        if distance == 3:
            return fan.SHORT_STRAIGHT
        return fan.TWO_TERMINAL_CHOWS if distance == 6 else 0
    return fan.MIXED_DOUBLE_CHOW if distance & 7 == 0 else 0


@jit
def _best_relation(three: int, fourth: int) -> int:
    """Return the lowest number of a fan that a fourth chow makes with one of three, or 0."""
    best = 0
    for i in range(3):
        other = _chow(three, i)
        number = _relation(min(other, fourth), max(other, fourth))
        if number and (best == 0 or number < best):
            best = number
    return best


@jit
def _fans_of_two(listed: int, number: int) -> int:
    """Return the fans of two chows among ``number`` chows that make no greater fan.

    Account-once: as many as connect all chows that have a relation; kept are different ones.
    """
    found = total = related = 0
    for j in range(1, number):
        for i in range(j):
            relation = _relation(_chow(listed, i), _chow(listed, j))
            if relation:
                found += small_fan(relation)
                total += 1
                related |= 1 << i | 1 << j
    excess = total - (number - 1 - (number - count_bits(related)))
    for kept in range(1, -1, -1):
        for relation in range(fan.TWO_TERMINAL_CHOWS, fan.PURE_DOUBLE_CHOW - 1, -1):
            while excess > 0 and found >> 3 * (relation - 64) & 7 > kept:
                found -= small_fan(relation)
                excess -= 1
    return found


@jit
def fans_of_pungs(pungs: int, pair: int, round_wind: int, seat_wind: int) -> tuple[int, int]:
    """Return the fans that pungs make by their kinds, of winds and dragons with the pair."""
    large, small = _fans_of_honours(pungs, pair, round_wind, seat_wind)
    suited = pungs & _SUITED_BITS
    if suited & suited - 1 == 0:
        return large, small
    m, p, s = suited & _SUIT, suited >> 9 & _SUIT, suited >> 18
    if m & p & s:
        return large | large_fan(fan.TRIPLE_PUNG), small
    small += count_bits(m & p | m & s | p & s) * small_fan(fan.DOUBLE_PUNG)
    runs = suited & suited >> 1 & suited >> 2
    if runs & runs >> 1 & _RUN_OF_4:
        large |= large_fan(fan.FOUR_PURE_SHIFTED_PUNGS)
    elif runs & _RUN_OF_3:
        large |= large_fan(fan.PURE_SHIFTED_PUNGS)
    elif m and p and s and (_has_steps(m, p, s) or _has_steps(p, s, m) or _has_steps(s, m, p)):
        large |= large_fan(fan.MIXED_SHIFTED_PUNGS)
    return large, small


@jit
def _has_steps(x: int, y: int, z: int) -> bool:
    """Tell whether ranks r of x, r + 1 and r + 2 of the two others are there."""
    return x & (y >> 1 & z >> 2 | z >> 1 & y >> 2) != 0


@jit
def _fans_of_honours(pungs: int, pair: int, round_wind: int, seat_wind: int) -> tuple[int, int]:
    large = 0
    ends = pungs & TERMINAL_AND_HONOUR_BITS & ~_DRAGON_BITS  # those that no other fan takes: count as 73
    winds = pungs & _WIND_BITS
    if winds:
        number = count_bits(winds)
        if number == 4:
            large |= large_fan(fan.BIG_FOUR_WINDS)
        elif number == 3:
            is_pair = 1 << pair & _WIND_BITS
            large |= large_fan(fan.LITTLE_FOUR_WINDS) if is_pair else large_fan(fan.BIG_THREE_WINDS)
        if number >= 3:
            ends &= ~_WIND_BITS
        if winds >> 27 + round_wind & 1:
            large |= large_fan(fan.PREVALENT_WIND)
            ends &= ~(1 << 27 + round_wind)
        if winds >> 27 + seat_wind & 1:
            large |= large_fan(fan.SEAT_WIND)
            ends &= ~(1 << 27 + seat_wind)
    dragons = count_bits(pungs & _DRAGON_BITS)
    if dragons == 3:
        large |= large_fan(fan.BIG_THREE_DRAGONS)
    elif dragons == 2:
        large |= large_fan(fan.LITTLE_THREE_DRAGONS) if pair >= 31 else large_fan(fan.TWO_DRAGON_PUNGS)
    elif dragons == 1:
        large |= large_fan(fan.DRAGON_PUNG)
    return large, count_bits(ends) * small_fan(fan.PUNG_OF_TERMINALS_OR_HONOURS)
