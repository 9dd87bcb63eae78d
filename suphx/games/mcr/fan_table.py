"""The 82 fans of MCR: numbers, names, values, and which fans each one excludes (docs/mcr.md, the table of fans).

A reading's fans are two integers, so that kernels handle them as bits:

- ``large``: the fans 1 to 63, which count at most once; fan n is bit n - 1.
- ``small``: the fans 64 to 82, of which some count several times; fan n has three bits from bit 3 * (n - 64) on.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from suphx.games.mahjong.planes import count_bits
from suphx.kernel.jit import jit

# Bit sets of kinds.
ONE_OF_EACH_SUIT = 1 | 1 << 9 | 1 << 18
UPPER_FOUR_KINDS, LOWER_FOUR_KINDS = 0x1E0 * ONE_OF_EACH_SUIT, 0x00F * ONE_OF_EACH_SUIT
WIND_KINDS, DRAGON_KINDS = 0xF << 27, 0x7 << 31
KNITTED_ORDERS = tuple(permutations(range(3)))
"""The six arrangements of knitted tiles: which suit has 1, 4, 7 (0), which 2, 5, 8 (1), and which 3, 6, 9 (2)."""
KNITTED_KINDS = np.array([sum(0x49 << 9 * suit + low for suit, low in enumerate(order)) for order in KNITTED_ORDERS])

_TABLE: tuple[tuple[str, str, int, tuple[int, ...]], ...] = (
    ("Big Four Winds", "大四喜", 88, (38, 48, 60, 61)),
    ("Big Three Dragons", "大三元", 88, (54, 59)),
    ("All Green", "绿一色", 88, (49, 75)),
    ("Nine Gates", "九莲宝灯", 88, (22, 56, 62, 76)),
    ("Four Kongs", "四杠", 88, (48, 79)),
    ("Seven Shifted Pairs", "连七对", 88, (19, 22, 56, 62, 76, 79)),
    ("Thirteen Orphans", "十三幺", 88, (18, 51, 56, 62, 79)),
    ("All Terminals", "清幺九", 64, (18, 48, 55, 65, 73, 76)),
    ("Little Four Winds", "小四喜", 64, (38,)),
    ("Little Three Dragons", "小三元", 64, (54, 59)),
    ("All Honours", "字一色", 64, (18, 48, 55, 73, 75)),
    ("Four Concealed Pungs", "四暗刻", 64, (48, 56, 62)),
    ("Pure Terminal Chows", "一色双龙会", 64, (19, 22, 63, 69, 72, 76)),
    ("Quadruple Chow", "一色四同顺", 48, (23, 24, 64, 69)),
    ("Four Pure Shifted Pungs", "一色四节高", 48, (23, 24, 48)),
    ("Four Pure Shifted Chows", "一色四步高", 32, (30, 71, 72)),
    ("Three Kongs", "三杠", 32, ()),
    ("All Terminals and Honours", "混幺九", 32, (48, 55, 73)),
    ("Seven Pairs", "七对", 24, (56, 62, 79)),
    ("Greater Honours and Knitted Tiles", "七星不靠", 24, (34, 51, 56, 62, 79)),
    ("All Even Pungs", "全双刻", 24, (48, 68, 76)),
    ("Full Flush", "清一色", 24, (75, 76)),
    ("Pure Triple Chow", "一色三同顺", 24, (24,)),
    ("Pure Shifted Pungs", "一色三节高", 24, ()),
    ("Upper Tiles", "全大", 24, (36, 76)),
    ("Middle Tiles", "全中", 24, (68, 76)),
    ("Lower Tiles", "全小", 24, (37, 76)),
    ("Pure Straight", "清龙", 16, ()),
    ("Three-Suited Terminal Chows", "三色双龙会", 16, (63, 70, 72, 76)),
    ("Pure Shifted Chows", "一色三步高", 16, ()),
    ("All Five", "全带五", 16, (68, 76)),
    ("Triple Pung", "三同刻", 16, ()),
    ("Three Concealed Pungs", "三暗刻", 16, ()),
    ("Lesser Honours and Knitted Tiles", "全不靠", 12, (51, 56, 62, 79)),
    ("Knitted Straight", "组合龙", 12, ()),
    ("Upper Four", "大于五", 12, (76,)),
    ("Lower Four", "小于五", 12, (76,)),
    ("Big Three Winds", "三风刻", 12, ()),
    ("Mixed Straight", "花龙", 8, ()),
    ("Reversible Tiles", "推不倒", 8, (75,)),
    ("Mixed Triple Chow", "三色三同顺", 8, ()),
    ("Mixed Shifted Pungs", "三色三节高", 8, ()),
    ("Chicken Hand", "无番和", 8, ()),
    ("Last Tile Draw", "妙手回春", 8, (80,)),
    ("Last Tile Claim", "海底捞月", 8, ()),
    ("Out with Replacement Tile", "杠上开花", 8, (80,)),
    ("Robbing the Kong", "抢杠和", 8, (58,)),
    ("All Pungs", "碰碰和", 6, ()),
    ("Half Flush", "混一色", 6, (75,)),
    ("Mixed Shifted Chows", "三色三步高", 6, ()),
    ("All Types", "五门齐", 6, ()),
    ("Melded Hand", "全求人", 6, (79,)),
    ("Two Concealed Kongs", "双暗杠", 6, (66, 67)),
    ("Two Dragon Pungs", "双箭刻", 6, ()),
    ("Outside Hand", "全带幺", 4, ()),
    ("Fully Concealed Hand", "不求人", 4, ()),
    ("Two Melded Kongs", "双明杠", 4, ()),
    ("Last Tile", "和绝张", 4, ()),
    ("Dragon Pung", "箭刻", 2, ()),
    ("Prevalent Wind", "圈风刻", 2, ()),
    ("Seat Wind", "门风刻", 2, ()),
    ("Concealed Hand", "门前清", 2, ()),
    ("All Chows", "平和", 2, (76,)),
    ("Tile Hog", "四归一", 2, ()),
    ("Double Pung", "双同刻", 2, ()),
    ("Two Concealed Pungs", "双暗刻", 2, ()),
    ("Concealed Kong", "暗杠", 2, ()),
    ("All Simples", "断幺", 2, (76,)),
    ("Pure Double Chow", "一般高", 1, ()),
    ("Mixed Double Chow", "喜相逢", 1, ()),
    ("Short Straight", "连六", 1, ()),
    ("Two Terminal Chows", "老少副", 1, ()),
    ("Pung of Terminals or Honours", "幺九刻", 1, ()),
    ("Melded Kong", "明杠", 1, ()),
    ("One Voided Suit", "缺一门", 1, ()),
    ("No Honours", "无字", 1, ()),
    ("Edge Wait", "边张", 1, ()),
    ("Closed Wait", "嵌张", 1, ()),
    ("Single Wait", "单钓将", 1, ()),
    ("Self-Drawn", "自摸", 1, ()),
    ("Flower Tiles", "花牌", 1, ()),
    ("Melded and Concealed Kong", "明暗杠", 5, ()),
)
FANS = tuple(row[:3] for row in _TABLE)
"""(English name, Chinese name, value); fan n is at index n - 1."""

EXCLUDED = {number: row[3] for number, row in enumerate(_TABLE, 1) if row[3]}
"""What a fan implies wherever it counts. What it excludes only for its own sets is left out in set_fans.py."""

NUM_FANS = len(FANS)

(
    BIG_FOUR_WINDS, BIG_THREE_DRAGONS, ALL_GREEN, NINE_GATES, FOUR_KONGS, SEVEN_SHIFTED_PAIRS, THIRTEEN_ORPHANS,
    ALL_TERMINALS, LITTLE_FOUR_WINDS, LITTLE_THREE_DRAGONS, ALL_HONOURS, FOUR_CONCEALED_PUNGS, PURE_TERMINAL_CHOWS,
    QUADRUPLE_CHOW, FOUR_PURE_SHIFTED_PUNGS, FOUR_PURE_SHIFTED_CHOWS, THREE_KONGS, ALL_TERMINALS_AND_HONOURS,
    SEVEN_PAIRS, GREATER_HONOURS_AND_KNITTED_TILES, ALL_EVEN_PUNGS, FULL_FLUSH, PURE_TRIPLE_CHOW, PURE_SHIFTED_PUNGS,
    UPPER_TILES, MIDDLE_TILES, LOWER_TILES, PURE_STRAIGHT, THREE_SUITED_TERMINAL_CHOWS, PURE_SHIFTED_CHOWS, ALL_FIVE,
    TRIPLE_PUNG, THREE_CONCEALED_PUNGS, LESSER_HONOURS_AND_KNITTED_TILES, KNITTED_STRAIGHT, UPPER_FOUR, LOWER_FOUR,
    BIG_THREE_WINDS, MIXED_STRAIGHT, REVERSIBLE_TILES, MIXED_TRIPLE_CHOW, MIXED_SHIFTED_PUNGS, CHICKEN_HAND,
    LAST_TILE_DRAW, LAST_TILE_CLAIM, OUT_WITH_REPLACEMENT_TILE, ROBBING_THE_KONG, ALL_PUNGS, HALF_FLUSH,
    MIXED_SHIFTED_CHOWS, ALL_TYPES, MELDED_HAND, TWO_CONCEALED_KONGS, TWO_DRAGON_PUNGS, OUTSIDE_HAND,
    FULLY_CONCEALED_HAND, TWO_MELDED_KONGS, LAST_OF_ITS_KIND, DRAGON_PUNG, PREVALENT_WIND, SEAT_WIND, CONCEALED_HAND,
    ALL_CHOWS, TILE_HOG, DOUBLE_PUNG, TWO_CONCEALED_PUNGS, CONCEALED_KONG, ALL_SIMPLES, PURE_DOUBLE_CHOW,
    MIXED_DOUBLE_CHOW, SHORT_STRAIGHT, TWO_TERMINAL_CHOWS, PUNG_OF_TERMINALS_OR_HONOURS, MELDED_KONG,
    ONE_VOIDED_SUIT, NO_HONOURS, EDGE_WAIT, CLOSED_WAIT, SINGLE_WAIT, SELF_DRAWN_WIN, FLOWER_TILES,
    MELDED_AND_CONCEALED_KONG,
) = range(1, NUM_FANS + 1)  # fmt: skip

NUM_LARGE = 63
VALUES = np.array([0, *(value for _, _, value in FANS)])


def _masks() -> tuple[list[int], list[int]]:
    large, small = [0] * (NUM_FANS + 1), [0] * (NUM_FANS + 1)
    for number, excluded in EXCLUDED.items():
        for other in excluded:
            if other <= NUM_LARGE:
                large[number] |= 1 << other - 1
            else:
                small[number] |= 7 << 3 * (other - 64)
    return large, small


# What is kept beside each fan: int64 (83,), by number.
KEPT_LARGE, KEPT_SMALL = (~np.array(masks) for masks in _masks())


@jit
def large_fan(number: int) -> int:
    """Return the bit of a fan of 1 to 63."""
    return 1 << number - 1


@jit
def small_fan(number: int) -> int:
    """Return a count of one of a fan of 64 to 82."""
    return 1 << 3 * (number - 64)


@jit
def lowest_bit(bits: int) -> int:
    """Return the place of the lowest bit that is set."""
    return count_bits((bits & -bits) - 1)


@jit
def settle(large: int, small: int) -> tuple[int, int, int]:
    """Return (total, large, small) of a reading's fans without those that others exclude.

    An excluded fan always has a higher number than the fan that excludes it, so one pass settles all; what a fan
    excludes that was itself excluded stays.
    """
    total = 0
    rest = large
    while rest:
        number = lowest_bit(rest) + 1
        total += VALUES[number]
        large &= KEPT_LARGE[number]
        small &= KEPT_SMALL[number]
        rest &= large & rest - 1
    if small & small_fan(ALL_SIMPLES):  # the only small fan that excludes others
        small &= KEPT_SMALL[ALL_SIMPLES]
    rest = small
    while rest:
        place = lowest_bit(rest) // 3
        count = rest >> 3 * place & 7
        total += VALUES[place + 64] * count
        rest ^= count << 3 * place
    return total, large, small
