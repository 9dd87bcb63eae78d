"""From han and fu to points and payments (honba, sticks, pao)."""

from __future__ import annotations

from suphx.games.riichi.table.rule_flag import COUNTED_YAKUMAN, KIRIAGE_MANGAN
from suphx.kernel.jit import jit
from suphx.kernel.record import I32

STICK = 1000
HONBA = 300

_NEARLY_MANGAN = 1920  # 4 han 30 fu, 3 han 60 fu


@jit
def base_points(han: int, fu: int, yakuman: int, rules: int) -> int:
    """Return the base points of a hand; ``rules``: bit set (rule_flag.py; counted yakuman, rounding up to mangan)."""
    if yakuman > 0:
        return 8000 * yakuman
    if han >= 13 and rules & COUNTED_YAKUMAN:
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
    if points == _NEARLY_MANGAN and rules & KIRIAGE_MANGAN:
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
