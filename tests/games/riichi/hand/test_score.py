from __future__ import annotations

import numpy as np
import pytest

from suphx.games.riichi.hand.score import base_points, pay_honba, pay_liable, pay_win
from suphx.games.riichi.table.rules import rule_flags, tenhou

DEALER, OTHER = 0, 1
TENHOU = rule_flags(tenhou())

# Points of a ron by another seat than the dealer, and by the dealer (the usual tables, no rounding up to mangan).
RON_POINTS = {
    (1, 30): (1000, 1500),
    (1, 40): (1300, 2000),
    (1, 50): (1600, 2400),
    (1, 60): (2000, 2900),
    (1, 70): (2300, 3400),
    (1, 110): (3600, 5300),
    (2, 25): (1600, 2400),
    (2, 30): (2000, 2900),
    (2, 40): (2600, 3900),
    (2, 110): (7100, 10_600),
    (3, 25): (3200, 4800),
    (3, 30): (3900, 5800),
    (3, 50): (6400, 9600),
    (3, 60): (7700, 11_600),
    (3, 70): (8000, 12_000),
    (4, 25): (6400, 9600),
    (4, 30): (7700, 11_600),
    (4, 40): (8000, 12_000),
    (5, 20): (8000, 12_000),
    (6, 30): (12_000, 18_000),
    (7, 30): (12_000, 18_000),
    (8, 30): (16_000, 24_000),
    (10, 30): (16_000, 24_000),
    (11, 30): (24_000, 36_000),
    (12, 30): (24_000, 36_000),
    (13, 30): (32_000, 48_000),
    (30, 30): (32_000, 48_000),
}

# What the dealer and the others pay for a tsumo.
TSUMO_SHARES = {
    (1, 30): (500, 300),
    (2, 20): (700, 400),
    (2, 30): (1000, 500),
    (3, 20): (1300, 700),
    (3, 25): (1600, 800),
    (4, 20): (2600, 1300),
    (4, 25): (3200, 1600),
    (4, 30): (3900, 2000),
    (5, 30): (4000, 2000),
    (13, 30): (16_000, 8000),
}


@pytest.mark.parametrize(("han", "fu"), list(RON_POINTS))
def test_ron_points(han: int, fu: int) -> None:
    deltas = np.zeros(4, np.int32)
    for winner, expected in zip((OTHER, DEALER), RON_POINTS[han, fu], strict=True):
        assert pay_win(winner, 3, DEALER, base_points(han, fu, 0, TENHOU), deltas) == expected
        assert deltas[winner] == expected
        assert deltas[3] == -expected
        assert np.count_nonzero(deltas) == 2


@pytest.mark.parametrize(("han", "fu"), list(TSUMO_SHARES))
def test_tsumo_shares(han: int, fu: int) -> None:
    of_dealer, of_others = TSUMO_SHARES[han, fu]
    deltas = np.zeros(4, np.int32)
    assert pay_win(2, 2, DEALER, base_points(han, fu, 0, TENHOU), deltas) == of_dealer + 2 * of_others
    assert deltas.tolist() == [-of_dealer, -of_others, of_dealer + 2 * of_others, -of_others]
    assert pay_win(DEALER, DEALER, DEALER, base_points(han, fu, 0, TENHOU), deltas) == 3 * of_dealer
    assert deltas.tolist() == [3 * of_dealer, -of_dealer, -of_dealer, -of_dealer]


def test_yakuman_add_up_without_a_limit() -> None:
    assert [base_points(0, 0, n, TENHOU) for n in (1, 2, 3, 7)] == [8000, 16_000, 24_000, 56_000]


def test_honba_are_300_from_one_or_100_from_each() -> None:
    deltas = np.zeros(4, np.int32)
    pay_honba(1, 2, -1, 3, deltas)
    assert deltas.tolist() == [0, 900, -900, 0]
    deltas[:] = 0
    pay_honba(1, 1, -1, 2, deltas)
    assert deltas.tolist() == [-200, 600, -200, -200]


def test_the_liable_seat_pays_a_tsumo_yakuman_and_its_honba_alone() -> None:
    deltas = np.zeros(4, np.int32)
    assert pay_liable(1, 1, 3, DEALER, 8000, 8000, deltas) == 32_000
    pay_honba(1, 1, 3, 2, deltas)
    assert deltas.tolist() == [0, 32_600, 0, -32_600]


def test_the_liable_seat_shares_a_ron_yakuman_with_the_seat_that_dealt_in() -> None:
    deltas = np.zeros(4, np.int32)
    assert pay_liable(DEALER, 2, 3, DEALER, 8000, 8000, deltas) == 48_000
    assert deltas.tolist() == [48_000, 0, -24_000, -24_000]


def test_liability_covers_only_its_own_yakuman() -> None:
    deltas = np.zeros(4, np.int32)
    assert pay_liable(1, 1, 3, DEALER, 16_000, 8000, deltas) == 64_000
    assert deltas.tolist() == [-16_000, 64_000, -8000, -40_000]
    assert pay_liable(1, 2, 3, DEALER, 16_000, 8000, deltas) == 64_000
    assert deltas.tolist() == [0, 64_000, -48_000, -16_000]
