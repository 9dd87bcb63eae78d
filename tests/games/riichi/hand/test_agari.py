from __future__ import annotations

import numpy as np
import pytest

from suphx.games.riichi.hand.agari import MAX_READINGS, TRIPLET, is_seven_pairs, is_thirteen_orphans, read_hand
from suphx.games.riichi.table.tile import face_name
from suphx.kernel.record import I8
from tests.games.riichi.builders.table_builder import counts_of
from tests.games.riichi.twins.shanten_twin import all_targets


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
