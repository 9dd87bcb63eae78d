"""Yaku, han and fu of a winning hand, the best of all its readings; points and payments (honba, sticks, pao).

Yaku are bit sets of Tenhou's numbers (yaku_number.py), so that records compare bit by bit; dora are counted apart.
"""

from __future__ import annotations

import numpy as np

from suphx.games.mahjong.readings import MAX_READINGS, TRIPLET, is_thirteen_orphans, read_hand
from suphx.games.mahjong.tile import (
    ANKAN_MELD,
    CHI_MELD,
    EAST,
    GREEN_BITS,
    HAKU,
    HONOUR_BITS,
    PON_MELD,
    TERMINAL_AND_HONOUR_BITS,
    is_simple,
)
from suphx.games.riichi import rules as rule
from suphx.games.riichi import yaku_number
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I32

STICK = 1000
HONBA = 300

_NEARLY_MANGAN = 1920  # 4 han 30 fu, 3 han 60 fu


@jit
def base_points(han: int, fu: int, yakuman: int, rules: int) -> int:
    """Return the base points of a hand; ``rules``: bit set (rules.py; counted yakuman, rounding up to mangan)."""
    if yakuman > 0:
        return 8000 * yakuman
    if han >= 13 and rules & rule.COUNTED_YAKUMAN:
        return 8000
    if han >= 11:
        return 6000
    if han >= 8:
        return 4000
    if han >= 6:
        return 3000
    if han >= 5:
        return 2000
    points = fu << (2 + han)
    if points == _NEARLY_MANGAN and rules & rule.KIRIAGE_MANGAN:
        return 2000
    return min(2000, points)


@jit
def _round_up(points: int) -> int:
    return (points + 99) // 100 * 100


@jit
def pay_win(winner: int, loser: int, dealer: int, base: int, deltas: I32) -> int:
    """Fill ``deltas``, int32 (4,), with the payments for ``base`` points and return the winner's gain.

    ``loser`` is the seat that dealt in, or ``winner`` for a tsumo. Honba and sticks are not included.
    """
    deltas[:] = 0
    if loser != winner:
        gain = _round_up(base * (6 if winner == dealer else 4))
        deltas[loser] = -gain
    else:
        gain = 0
        for seat in range(4):
            if seat != winner:
                share = _round_up(base * (2 if seat == dealer or winner == dealer else 1))
                deltas[seat] = -share
                gain += share
    deltas[winner] = gain
    return gain


@jit
def pay_liable(winner: int, loser: int, liable: int, dealer: int, base: int, liable_base: int, deltas: I32) -> int:
    """Fill ``deltas`` when ``liable`` answers for ``liable_base`` of the ``base`` points (pao); return the gain.

    Tsumo: the liable seat alone pays its part. Ron: it shares its part with the seat that dealt in.
    """
    gain = pay_win(winner, loser, dealer, base - liable_base, deltas)
    part = liable_base * (6 if winner == dealer else 4)
    if loser == winner:
        deltas[liable] -= part
    else:
        deltas[liable] -= part // 2
        deltas[loser] -= part - part // 2
    deltas[winner] += part
    return gain + part


@jit
def pay_honba(winner: int, loser: int, liable: int, honba: int, deltas: I32) -> None:
    """Add 300 points a honba: from the liable seat, else from the seat that dealt in, else from all."""
    deltas[winner] += HONBA * honba
    if liable >= 0:
        deltas[liable] -= HONBA * honba
    elif loser != winner:
        deltas[loser] -= HONBA * honba
    else:
        for seat in range(4):
            if seat != winner:
                deltas[seat] -= HONBA // 3 * honba


@jit
def is_seven_pairs(hand: I8) -> bool:
    """Tell whether 14 tiles are seven different pairs."""
    pairs = 0
    for kind in range(34):
        if hand[kind] == 2:
            pairs += 1
    return pairs == 7


# circumstances of a win, a bit set
IS_TSUMO, IS_RIICHI, IS_DOUBLE_RIICHI, IS_IPPATSU, IS_RINSHAN, IS_CHANKAN, IS_LAST_TILE, IS_FIRST_TURN = (
    1, 2, 4, 8, 16, 32, 64, 128,
)  # fmt: skip

_RUN, _SET = 0, 1


@jit
def score_hand(
    hand: I8, num_melds: int, meld_type: I8, meld_kind: I8, win_kind: int, circumstances: int,
    seat_wind: int, round_wind: int, rules: int, dora: int,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Return (yaku bit set, han with dora, fu, number of yakuman) of the reading worth most; zeros without a yaku.

    ``hand``: int8 (34,) concealed counts, the winning tile ``win_kind`` included; winds are kinds 27-30;
    ``rules`` is a bit set (rules.py); ``dora`` counts all dora of the hand. Yakuman give han and fu 0 (rule: dora
    do not count).
    """
    is_closed = True
    for i in range(num_melds):
        is_closed &= meld_type[i] == ANKAN_MELD
    all_kinds = 0
    for kind in range(34):
        if hand[kind] > 0:
            all_kinds |= 1 << kind
    for i in range(num_melds):
        all_kinds |= (7 if meld_type[i] == CHI_MELD else 1) << meld_kind[i]
    whole = _whole_hand_yaku(all_kinds, circumstances, is_closed, rules, seat_wind)
    if num_melds == 0 and is_thirteen_orphans(hand):
        kokushi = 1 << yaku_number.KOKUSHI_MUSOU_13_WAITS if hand[win_kind] == 2 else 1 << yaku_number.KOKUSHI_MUSOU
        return _total(kokushi | whole, is_closed, rules, dora, 30)
    best = (0, 0, 0, 0)
    if num_melds == 0 and is_seven_pairs(hand):
        best = _total(whole | 1 << yaku_number.CHIITOITSU, True, rules, dora, 25)
    readings = np.empty((MAX_READINGS, 5), np.int8)
    num_readings = read_hand(hand, 4 - num_melds, readings)
    sets = np.empty((4, 3), np.int8)
    for r in range(num_readings):
        reading = readings[r]
        _place_sets(reading, num_melds, meld_type, meld_kind, sets)
        shape = whole | _set_yaku(sets, reading[0], all_kinds, is_closed, seat_wind, round_wind)
        shape |= _nine_gates(hand, all_kinds, is_closed and num_melds == 0, win_kind)
        # -1: the winning tile made the pair; else it went into the concealed set w
        for w in range(-1, 4 - num_melds):
            if _can_hold(reading, w, win_kind):
                now = _reading_total(
                    reading, sets, w, win_kind, shape, circumstances, is_closed, seat_wind, round_wind, rules, dora
                )
                if _is_better(now, best, rules):
                    best = now
    return best


@jit
def _is_better(a: tuple[int, int, int, int], b: tuple[int, int, int, int], rules: int) -> bool:
    """Compare by points, then yakuman before counted han, then by han, then by fu."""
    points_a, points_b = base_points(a[1], a[2], a[3], rules), base_points(b[1], b[2], b[3], rules)
    if a[0] == 0 or b[0] == 0:
        return a[0] != 0
    if points_a != points_b:
        return points_a > points_b
    if a[3] != b[3]:
        return a[3] > b[3]
    return a[1] > b[1] or (a[1] == b[1] and a[2] > b[2])


@jit
def _whole_hand_yaku(all_kinds: int, circumstances: int, is_closed: bool, rules: int, seat_wind: int) -> int:
    """Return the yaku that need no reading: circumstances, and which kinds there are."""
    yaku = 0
    if circumstances & IS_FIRST_TURN:
        yaku |= 1 << yaku_number.TENHOU if seat_wind == 27 else 1 << yaku_number.CHIIHOU
    if circumstances & IS_TSUMO and is_closed:
        yaku |= 1 << yaku_number.MENZEN_TSUMO
    if circumstances & IS_DOUBLE_RIICHI:
        yaku |= 1 << yaku_number.DOUBLE_RIICHI
    elif circumstances & IS_RIICHI:
        yaku |= 1 << yaku_number.RIICHI
    if circumstances & IS_IPPATSU:
        yaku |= 1 << yaku_number.IPPATSU
    if circumstances & IS_CHANKAN:
        yaku |= 1 << yaku_number.CHANKAN
    if circumstances & IS_RINSHAN:
        yaku |= 1 << yaku_number.RINSHAN_KAIHOU
    elif circumstances & IS_LAST_TILE:
        yaku |= 1 << yaku_number.HAITEI if circumstances & IS_TSUMO else 1 << yaku_number.HOUTEI
    if all_kinds & TERMINAL_AND_HONOUR_BITS == 0 and (is_closed or rules & rule.OPEN_TANYAO):
        yaku |= 1 << yaku_number.TANYAO
    if all_kinds & ~TERMINAL_AND_HONOUR_BITS == 0:
        yaku |= 1 << yaku_number.HONROUTOU
    suits = (all_kinds & 0x1FF != 0) + (all_kinds >> 9 & 0x1FF != 0) + (all_kinds >> 18 & 0x1FF != 0)
    if suits == 1:
        yaku |= 1 << yaku_number.HONITSU if all_kinds & HONOUR_BITS else 1 << yaku_number.CHINITSU
    if suits == 0:
        yaku |= 1 << yaku_number.TSUUIISOU
    if all_kinds & ~GREEN_BITS == 0:
        yaku |= 1 << yaku_number.RYUUIISOU
    if all_kinds & ~(TERMINAL_AND_HONOUR_BITS & ~HONOUR_BITS) == 0:
        yaku |= 1 << yaku_number.CHINROUTOU
    return yaku


@jit
def _place_sets(reading: I8, num_melds: int, meld_type: I8, meld_kind: I8, sets: I8) -> None:
    """Fill ``sets`` with (run or triplet, lowest kind, type of meld or 0): the reading's sets first, then melds."""
    num_concealed = 4 - num_melds
    for i in range(num_concealed):
        code = reading[1 + i]
        sets[i, 0] = _SET if code >= TRIPLET else _RUN
        sets[i, 1] = code - TRIPLET if code >= TRIPLET else code
        sets[i, 2] = 0
    for i in range(num_melds):
        sets[num_concealed + i, 0] = _RUN if meld_type[i] == CHI_MELD else _SET
        sets[num_concealed + i, 1] = meld_kind[i]
        sets[num_concealed + i, 2] = meld_type[i]


@jit
def _set_yaku(sets: I8, pair: int, all_kinds: int, is_closed: bool, seat_wind: int, round_wind: int) -> int:
    """Return the yaku of the sets that do not depend on which tile came last."""
    runs = all_runs = triplets = 0
    equal_runs = num_triplets = kans = 0
    for i in range(4):
        bit = 1 << sets[i, 1]
        if sets[i, 0] == _RUN:
            equal_runs += runs & bit != 0
            runs ^= bit  # a third one starts over
            all_runs |= bit
        else:
            triplets |= bit
            num_triplets += 1
            kans += sets[i, 2] >= ANKAN_MELD
    yaku = _honour_yaku(triplets, pair, seat_wind, round_wind)
    if is_closed and equal_runs > 0:
        yaku |= 1 << yaku_number.RYANPEIKOU if equal_runs == 2 else 1 << yaku_number.IIPEIKOU
    for suit in range(0, 27, 9):
        if all_runs >> suit & 0x49 == 0x49:
            yaku |= 1 << yaku_number.ITTSUU
    if all_runs & all_runs >> 9 & all_runs >> 18 & 0x1FF:
        yaku |= 1 << yaku_number.SANSHOKU_DOUJUN
    if triplets & triplets >> 9 & triplets >> 18 & 0x1FF:
        yaku |= 1 << yaku_number.SANSHOKU_DOUKOU
    if kans == 3:
        yaku |= 1 << yaku_number.SANKANTSU
    if kans == 4:
        yaku |= 1 << yaku_number.SUUKANTSU
    if num_triplets == 4:
        yaku |= 1 << yaku_number.TOITOI
    if num_triplets < 4:
        yaku |= _outside_yaku(sets, pair, all_kinds)
    return yaku


@jit
def _outside_yaku(sets: I8, pair: int, all_kinds: int) -> int:
    """Return chanta or junchan: every set and the pair holds a terminal or an honour (and there is a run)."""
    if is_simple(pair):
        return 0
    for i in range(4):
        kind = sets[i, 1]
        if sets[i, 0] == _RUN:
            if kind % 9 != 0 and kind % 9 != 6:
                return 0
        elif is_simple(kind):
            return 0
    return 1 << yaku_number.CHANTA if all_kinds & HONOUR_BITS else 1 << yaku_number.JUNCHAN


@jit
def _honour_yaku(triplets: int, pair: int, seat_wind: int, round_wind: int) -> int:
    """Return the yaku of wind and dragon triplets."""
    yaku = 0
    if triplets >> seat_wind & 1:
        yaku |= 1 << (yaku_number.SEAT_WIND_EAST + seat_wind - EAST)
    if triplets >> round_wind & 1:
        yaku |= 1 << (yaku_number.ROUND_WIND_EAST + round_wind - EAST)
    dragons = winds = 0
    for kind in range(27, 31):
        winds += triplets >> kind & 1
    for kind in range(31, 34):
        if triplets >> kind & 1:
            dragons += 1
            yaku |= 1 << (yaku_number.HAKU + kind - HAKU)
    if dragons == 3:
        yaku |= 1 << yaku_number.DAISANGEN
    elif dragons == 2 and pair >= 31:
        yaku |= 1 << yaku_number.SHOUSANGEN
    if winds == 4:
        yaku |= 1 << yaku_number.DAISUUSHII
    elif winds == 3 and 27 <= pair < 31:
        yaku |= 1 << yaku_number.SHOUSUUSHII
    return yaku


@jit
def _nine_gates(hand: I8, all_kinds: int, has_no_meld: bool, win_kind: int) -> int:
    """Return chuuren poutou (1112345678999 and one more of the suit), or its form with nine waits."""
    if not has_no_meld or win_kind >= 27:
        return 0
    first = win_kind // 9 * 9
    if all_kinds != 0x1FF << first or hand[first] < 3 or hand[first + 8] < 3:
        return 0
    extra_at_win = hand[win_kind] - (3 if win_kind == first or win_kind == first + 8 else 1)
    return 1 << yaku_number.JUNSEI_CHUUREN_POUTOU if extra_at_win == 1 else 1 << yaku_number.CHUUREN_POUTOU


@jit
def _can_hold(reading: I8, completed: int, kind: int) -> bool:
    """Tell whether the winning tile can have completed the pair (-1) or the concealed set number ``completed``."""
    if completed < 0:
        return reading[0] == kind
    code = reading[1 + completed]
    if code >= TRIPLET:
        return code - TRIPLET == kind
    return code <= kind <= code + 2 and kind // 9 == code // 9


@jit
def _reading_total(
    reading: I8, sets: I8, completed: int, win_kind: int, shape: int, circumstances: int, is_closed: bool,
    seat_wind: int, round_wind: int, rules: int, dora: int,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Add what depends on what the winning tile completed: concealed triplets, pinfu, fu."""
    is_tsumo = circumstances & IS_TSUMO != 0
    concealed_triplets = 0
    num_runs = 0
    fu = 20
    for i in range(4):
        if sets[i, 0] == _RUN:
            num_runs += 1
            continue
        is_concealed = sets[i, 2] == 0 or sets[i, 2] == ANKAN_MELD
        if sets[i, 2] == 0 and i == completed and not is_tsumo:
            is_concealed = False
        concealed_triplets += is_concealed
        worth = 2 if is_simple(sets[i, 1]) else 4
        if is_concealed:
            worth *= 2
        if sets[i, 2] != 0 and sets[i, 2] != PON_MELD:
            worth *= 4
        fu += worth
    pair = reading[0]
    fu += 2 * ((pair == seat_wind) + (pair == round_wind) + (pair >= 31))
    if pair == seat_wind == round_wind and not rules & rule.DOUBLE_WIND_PAIR_4:
        fu -= 2
    wait = _wait_fu(reading, completed, win_kind)
    yaku = shape
    if concealed_triplets == 3:
        yaku |= 1 << yaku_number.SANANKOU
    elif concealed_triplets == 4:
        yaku |= 1 << yaku_number.SUUANKOU_TANKI if completed < 0 else 1 << yaku_number.SUUANKOU
    if is_closed and num_runs == 4 and fu == 20 and wait == 0 and (not is_tsumo or rules & rule.PINFU_TSUMO):
        return _total(yaku | 1 << yaku_number.PINFU, True, rules, dora, 20 if is_tsumo else 30)
    fu += wait
    if is_tsumo:
        if rules & rule.RINSHAN_TSUMO_FU or not circumstances & IS_RINSHAN:
            fu += 2
    elif is_closed:
        fu += 10
    elif fu == 20:
        fu = 30  # an open hand without fu
    return _total(yaku, is_closed, rules, dora, (fu + 9) // 10 * 10)


@jit
def _wait_fu(reading: I8, completed: int, win_kind: int) -> int:
    """Return 2 for a pair, middle or edge wait, else 0."""
    if completed < 0:
        return 2
    code = reading[1 + completed]
    if code >= TRIPLET:
        return 0
    position = win_kind - code
    is_edge = (position == 2 and code % 9 == 0) or (position == 0 and code % 9 == 6)
    return 2 if position == 1 or is_edge else 0


@jit
def _total(yaku: int, is_closed: bool, rules: int, dora: int, fu: int) -> tuple[int, int, int, int]:
    """Settle which yaku stand beside which, and add up han."""
    yakuman = yaku & yaku_number.ALL_YAKUMAN
    if yakuman:
        if yakuman >> yaku_number.DAISUUSHII & 1:
            yakuman &= ~(1 << yaku_number.SHOUSUUSHII)
        return yakuman, 0, 0, _count_yakuman(yakuman, rules)
    if yaku >> yaku_number.HONROUTOU & 1:
        yaku &= ~(1 << yaku_number.CHANTA | 1 << yaku_number.JUNCHAN)
    han = 0
    for number in range(yaku_number.RENHOU):
        if yaku >> number & 1:
            han += han_of(number, is_closed)
    if han == 0:
        return 0, 0, 0, 0
    return yaku, han + dora, fu, 0


@jit
def _count_yakuman(yakuman: int, rules: int) -> int:
    """Return how many yakuman a bit set of yakuman is worth."""
    count = 0
    for number in range(yaku_number.FIRST_YAKUMAN, 52):
        count += yakuman >> number & 1
    doubles = yakuman >> yaku_number.SUUANKOU_TANKI & int(rules & rule.DOUBLE_SUUANKOU_TANKI != 0)
    doubles += yakuman >> yaku_number.JUNSEI_CHUUREN_POUTOU & int(rules & rule.DOUBLE_JUNSEI_CHUUREN != 0)
    doubles += yakuman >> yaku_number.KOKUSHI_MUSOU_13_WAITS & int(rules & rule.DOUBLE_KOKUSHI_13_WAITS != 0)
    doubles += yakuman >> yaku_number.DAISUUSHII & int(rules & rule.DOUBLE_DAISUUSHII != 0)
    if rules & rule.YAKUMAN_ADD_UP:
        return count + doubles
    return 2 if doubles else 1


@jit
def han_of(number: int, is_closed: bool) -> int:
    """Return the han of a yaku: chanta, ittsuu, sanshoku, junchan, honitsu, chinitsu lose one when open."""
    if number == yaku_number.CHINITSU:
        return 6 if is_closed else 5
    if number == yaku_number.JUNCHAN or number == yaku_number.HONITSU:
        return 3 if is_closed else 2
    if number == yaku_number.RYANPEIKOU:
        return 3
    if number == yaku_number.CHANTA or number == yaku_number.ITTSUU or number == yaku_number.SANSHOKU_DOUJUN:
        return 2 if is_closed else 1
    if number == yaku_number.DOUBLE_RIICHI or number == yaku_number.CHIITOITSU:
        return 2
    return 2 if yaku_number.SANSHOKU_DOUKOU <= number <= yaku_number.HONROUTOU else 1
