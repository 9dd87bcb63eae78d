"""The rules as kernels see them: one bit set and a few small numbers in every table. rules.py fills them.

A bit that is set is what the name says; choices with three answers take two bits.
"""

from __future__ import annotations

from typing import Any

from suphx.kernel.jit import jit
from suphx.kernel.record import field, record_dtype

# length and end of the game
EXTRA_WIND = 1 << 0
BUST_BELOW_ZERO = 1 << 1
BUST_AT_ZERO = 1 << 2
DEALER_WIN_ENDS_GAME = 1 << 3
TENPAI_ENDS_GAME = 1 << 4
TENPAI_KEEPS_DEALER = 1 << 5
LEFTOVER_STICKS_TO_FIRST = 1 << 6

# calls and draws; the bits below are those of a whole game, which no deal depends on (mjai_writer.py)
OPEN_TANYAO = 1 << 7
NO_KUIKAE_SAME = 1 << 8  # the claimed kind may not be discarded
NO_KUIKAE_ENDS = 1 << 9  # nor the other end of the run
DRAW_BY_NINE_TERMINALS = 1 << 10
DRAW_BY_FOUR_WINDS = 1 << 11
DRAW_BY_FOUR_RIICHI = 1 << 12
DRAW_BY_FOUR_KANS = 1 << 13
NAGASHI_RULE = 1 << 14

# riichi and dora
RIICHI_NEEDS_POINTS = 1 << 15
ANKAN_AFTER_RIICHI = 1 << 16
IPPATSU = 1 << 17
KAN_DORA = 1 << 18
KAN_DORA_AT_ONCE = 1 << 19  # for open and added kans too
URA_DORA = 1 << 20
KAN_URA_DORA = 1 << 21

# wins and points
KOKUSHI_ROBS_CLOSED_KAN = 1 << 22
PAO = 1 << 23
PAO_FOR_WHOLE_HAND = 1 << 24
KIRIAGE_MANGAN = 1 << 25
COUNTED_YAKUMAN = 1 << 26
YAKUMAN_ADD_UP = 1 << 27
DOUBLE_KOKUSHI_13_WAITS = 1 << 28
DOUBLE_SUUANKOU_TANKI = 1 << 29
DOUBLE_JUNSEI_CHUUREN = 1 << 30
DOUBLE_DAISUUSHII = 1 << 31
DOUBLE_WIND_PAIR_4 = 1 << 32
PINFU_TSUMO = 1 << 33
RINSHAN_TSUMO_FU = 1 << 34


class RuleValues:
    """The rules of one table; part of TABLE and of a stored game."""

    rule_flags: int = field("i8")  # the bits above
    target_points: int = field("i4")
    noten_payment: int = field("i2")  # in all, from the noten to the tenpai
    num_winds: int = field("i1")
    red_fives: int = field("i1")  # bit set by suit: 1 = 5m, 2 = 5p, 4 = 5s
    max_rons: int = field("i1")
    riichi_min_tiles: int = field("i1")


RULE_VALUES = record_dtype(RuleValues)


@jit
def copy_rules(source: Any, target: Any) -> None:
    """Give ``target`` the rules of ``source``, both records with the fields of RuleValues."""
    target.rule_flags = source.rule_flags
    target.target_points = source.target_points
    target.noten_payment = source.noten_payment
    target.num_winds = source.num_winds
    target.red_fives = source.red_fives
    target.max_rons = source.max_rons
    target.riichi_min_tiles = source.riichi_min_tiles
