from __future__ import annotations

import numpy as np
import pytest

from suphx.games.mahjong.readings import MAX_READINGS, TRIPLET, is_thirteen_orphans, read_hand
from suphx.games.riichi.rules import rule_flags, tenhou
from suphx.games.riichi.tile import face_name
from suphx.games.riichi.yaku import base_points, is_seven_pairs, pay_honba, pay_liable, pay_win
from suphx.kernel.record import I8
from tests.games.riichi.builders.table_builder import counts_of
from tests.games.riichi.twins.shanten_twin import all_targets

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


def readings_of(hand: I8) -> set[str]:
    """Return every reading as text: the pair, then the sorted sets."""
    num_sets = int(hand.sum()) // 3
    readings = np.zeros((MAX_READINGS, 5), np.int8)
    found = read_hand(hand, num_sets, readings)
    texts = []
    for row in readings[:found].tolist():
        sets = [f"{face_name(c - TRIPLET)}x3" if c >= TRIPLET else f"{face_name(c)}+" for c in row[1 : 1 + num_sets]]
        texts.append(" ".join([face_name(row[0]), *sorted(sets)]))
    assert len(set(texts)) == len(texts), "a reading is given twice"
    return set(texts)


def search(hand: I8, num_sets: int) -> set[str]:
    """Return all readings by plain recursion on the lowest tile."""

    def sets_of(counts: list[int]) -> list[list[str]]:
        kind = next((k for k in range(34) if counts[k]), None)
        if kind is None:
            return [[]]
        found = []
        ways = [(f"{face_name(kind)}x3", [kind] * 3)]
        if kind < 27 and kind % 9 < 7:
            ways.append((f"{face_name(kind)}+", [kind, kind + 1, kind + 2]))
        for name, tiles in ways:
            rest = list(counts)
            for tile in tiles:
                rest[tile] -= 1
            if min(rest) >= 0:
                found += [[name, *others] for others in sets_of(rest)]
        return found

    texts = set()
    for pair in np.flatnonzero(hand >= 2).tolist():
        counts = hand.tolist()
        counts[pair] -= 2
        texts |= {" ".join([face_name(pair), *sorted(sets)]) for sets in sets_of(counts)}
    return texts


@pytest.mark.parametrize(
    ("tiles", "expected"),
    [
        ("123m11z", {"1z 1m+"}),
        ("11z", {"1z"}),
        ("111222333m11z", {"1z 1m+ 1m+ 1m+", "1z 1mx3 2mx3 3mx3"}),
        ("22233344m", {"4m 2mx3 3mx3"}),
        ("11123m", {"1m 1m+"}),
        ("12345m", set()),
        ("11112222333344m", {"4m 1m+ 1m+ 1m+ 1m+", "4m 1m+ 1mx3 2mx3 3mx3", "1m 1m+ 1m+ 2m+ 2m+"}),
        ("89m1p11z", set()),
        ("111z", set()),
    ],
)
def test_readings_of_known_hands(tiles: str, expected: set[str]) -> None:
    assert readings_of(counts_of(tiles)) == expected


@pytest.mark.parametrize("num_sets", [1, 2, 3, 4])
def test_readings_are_all_that_a_search_finds(num_sets: int) -> None:
    rng = np.random.default_rng(num_sets)
    targets = all_targets(num_sets)
    one_suit = targets[targets[:, 9:].sum(axis=1) == 0]
    for pool in (targets, one_suit):
        for _ in range(150):
            hand = pool[rng.integers(len(pool))].copy()
            hand[rng.choice(np.flatnonzero(hand <= 2))] += 2
            assert readings_of(hand) == search(hand, num_sets)


def test_incomplete_hands_have_no_reading() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        hand = np.bincount(rng.choice(np.repeat(np.arange(12), 4), 14, replace=False), minlength=34).astype(np.int8)
        assert readings_of(hand) == search(hand, 4)


def test_no_hand_has_more_readings_than_there_is_room_for() -> None:
    many = ("22233344455566m", "11122233344455m", "33344455566677p")
    most = max(len(readings_of(counts_of(tiles))) for tiles in many)
    assert 3 <= most <= MAX_READINGS


def test_reading_leaves_the_hand_as_it_was() -> None:
    hand = counts_of("11122233344455m")
    before = hand.copy()
    readings_of(hand)
    np.testing.assert_array_equal(hand, before)


def test_seven_pairs_must_be_different() -> None:
    assert is_seven_pairs(counts_of("1122m3344p5566s77z"))
    assert not is_seven_pairs(counts_of("1111m3344p5566s77z"))
    assert not is_seven_pairs(counts_of("112m3344p5566s777z"))


def test_thirteen_orphans_need_every_terminal_and_honour_and_a_pair_of_them() -> None:
    assert is_thirteen_orphans(counts_of("19m19p19s12345677z"))
    assert not is_thirteen_orphans(counts_of("19m19p19s1234567z5m"))
    assert not is_thirteen_orphans(counts_of("19m19p19s12345566z"))
