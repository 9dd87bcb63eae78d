"""The search for fans: each fan at its limits, with tiles that are gone, with melds; ranks, equal suits, the base."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations, product

import numpy as np
import pytest

from suphx.games.mahjong.planes import SUIT_ORDERS
from suphx.games.mcr.search import (
    CHOWS,
    DROP,
    FIRST_SLOTS,
    KEEP,
    NUM_ADVICES,
    NUM_SLOTS,
    OWN,
    PART,
    PUNGS,
    SLOTS,
    UNSEEN,
    search,
)
from suphx.games.mcr.table import KIND_NAMES, NAME_ORDER
from suphx.kernel.record import I8, I64
from tests.games.mcr.course import SUITS, kinds

FANS = tuple(SLOTS)


def counts_of(hand: str, melds: str = "", gone: str = "") -> I8:
    """Return the counts of a search: a group of ``melds`` is a meld; tiles that are ``gone`` are seen elsewhere."""
    counts = np.zeros((4, 34), np.int8)
    counts[UNSEEN] = 4
    np.add.at(counts[OWN], kinds(hand), 1)
    for group in melds.split():
        tiles = kinds(group)
        counts[PUNGS if tiles[0] == tiles[1] else CHOWS, tiles[0]] += 1
        np.subtract.at(counts[UNSEEN], tiles, 1)
    counts[UNSEEN] -= counts[OWN]
    np.subtract.at(counts[UNSEEN], kinds(gone), 1)
    assert counts.min() >= 0
    return counts


def advice_of(counts: I8) -> I64:
    advice = np.full((NUM_ADVICES, 3), -1, np.int64)
    found = search(SUITS, counts, advice)
    assert found == advice[:NUM_SLOTS].any(axis=1).sum()
    return advice


def text(bits: int) -> str:
    """Return a set of kinds as ``W123 T5``."""
    groups: dict[str, str] = {}
    for kind in NAME_ORDER:
        if int(bits) >> kind & 1:
            suit = KIND_NAMES[kind][0]
            groups[suit] = groups.get(suit, suit) + KIND_NAMES[kind][1]
    return " ".join(groups.values())


def advised(fan: str, hand: str, melds: str = "", gone: str = "") -> list[tuple[str, str, str]]:
    """Return the part and what to keep and drop of each slot of a fan that is filled."""
    number = FANS.index(fan)
    rows = advice_of(counts_of(hand, melds, gone))[FIRST_SLOTS[number] : FIRST_SLOTS[number + 1]]
    return [(text(row[PART]), text(row[KEEP]), text(row[DROP])) for row in rows if row.any()]


def parts(fan: str, hand: str, melds: str = "", gone: str = "") -> list[str]:
    return [part for part, _, _ in advised(fan, hand, melds, gone)]


def test_there_are_26_slots() -> None:
    assert (NUM_SLOTS, len(FANS), len(FIRST_SLOTS)) == (26, 15, 16)


# fan, concealed tiles that matter, melds, tiles that are gone, the parts that are advised
CASES = """
Mixed Shifted Chows | W12 T23 B3     |           |       | W123 T234 B345
Mixed Shifted Chows | W12 T24 B5     |           |       | W123 T234 B345
Mixed Shifted Chows | W12 T23        |           |       |
Mixed Shifted Chows | W1 T23 B3      |           |       |
Mixed Shifted Chows | W123 T2 B3     |           |       |
Mixed Shifted Chows | W12 T23 B3     |           | W333  | W123 T234 B345
Mixed Shifted Chows | W12 T23 B3     |           | W3333 |
Mixed Shifted Chows | W12 T23 B3     |           | B4444 |
Mixed Shifted Chows | W12 T23 B3     |           | B5555 |
Mixed Shifted Chows | W12 B3         | T234      |       | W123 T234 B345
Mixed Shifted Chows | W1 B34         | T234      |       | W123 T234 B345
Mixed Shifted Chows | W1 B3          | T234      |       |
Mixed Shifted Chows | W1             | T234 B345 |       | W123 T234 B345
Mixed Shifted Chows | F1             | T234 B345 |       |
Mixed Shifted Chows | F1             | T234 B345 W123 |  | W123 T234 B345
Mixed Shifted Chows | W12 T23 B3     | T789      |       | W123 T234 B345
Mixed Shifted Chows | W12 T23 B3     | T789 F111 |       |
Mixed Shifted Chows | W1             | T234 B345 F111 |  | W123 T234 B345
Mixed Shifted Chows | W12 T23 B3     | T234 T234 |       | W123 T234 B345
Mixed Shifted Chows | W12 T23 B3     | T234 T234 T234 |  |
Pure Shifted Chows  | W1223 W5       |           |       | W12345
Pure Shifted Chows  | W123 W3 W4     |           |       | W12345
Pure Shifted Chows  | W1223          |           |       |
Pure Shifted Chows  | W1234 W7       |           |       | W1234567
Pure Shifted Chows  | W123 W67       |           |       | W1234567
Pure Shifted Chows  | W12 W67        |           |       |
Pure Shifted Chows  | W12244         |           | W3    | W12345
Pure Shifted Chows  | W12244         |           | W33   |
Pure Shifted Chows  | W12 W5         | W234      |       | W12345
Pure Shifted Chows  | W122335        | T111      |       | W12345
Pure Shifted Chows  | W122335        | T111 T222 |       |
Pure Shifted Chows  | W12235         | W333 T222 |       |
Mixed Triple Chow   | W12 T13 B2     |           |       | W123 T123 B123
Mixed Triple Chow   | W12 T1 B2      |           |       |
Mixed Triple Chow   | W12 T13 B2     |           | B1111 |
Mixed Triple Chow   | W12 T1         | B123      |       | W123 T123 B123
Mixed Triple Chow   | W12 T13 B2     | B456 F111 |       |
Mixed Straight      | W12 T45 B7     |           |       | W123 T456 B789
Mixed Straight      | B2 W46 T89     |           |       | W456 T789 B123
Mixed Straight      | W1 T45 B7      |           |       |
Mixed Straight      | W12 T45 B7     |           | T6666 |
Mixed Straight      | W12 T4         | B789      |       | W123 T456 B789
Mixed Straight      | W12 T45 B7     | B777 F111 |       |
Pure Straight       | W124578        |           |       | W123456789
Pure Straight       | W1124578       |           |       | W123456789
Pure Straight       | W12457         |           |       |
Pure Straight       | W112457        |           |       |
Pure Straight       | W124578        |           | W3333 |
Pure Straight       | W458           | W123      |       | W123456789
Pure Straight       | W45            | W123      |       |
Pure Straight       | W124578        | W234      |       | W123456789
Pure Straight       | W124578        | W234 F111 |       |
Pure Straight       | W145678        | W123 F111 |       | W123456789
Pure Straight       | W4578          | W123 W123 F111 |  |
All Types           | F11 J1 W12 T55 B7 |        |       | W123 T5 B567 F1 J1
All Types           | F1 J11 W12 T55 B7 |        |       | W123 T5 B567 F1 J1
All Types           | F1 J1 W12 T55 B7  |        |       |
All Types           | F11 W12 T55 B7    |        |       |
All Types           | F11 J1 W12 T55    |        |       |
All Types           | F11 J1 W12 T5 B7  |        |       |
All Types           | F11 J1 W14 T55 B7 |        |       |
All Types           | F11 J1 W13 T55 B7 |        |       | W123 T5 B567 F1 J1
All Types           | F11 J1 W13 T55 B7 |        | J111 J2222 J333 |
All Types           | J1 W12 T55 B7     | F111   |       | W123 T5 B567 F1 J1
All Types           | F11 J1 T55 B7     | W123   |       | W123 T5 B567 F1 J1
All Types           | F11 J1 T55 B7     | W123 W456 |    |
All Types           | J1 W12 T55 B7     | F111 F222 |    |
Full Flush          | W111222333     |           |       | W123456789
Full Flush          | W11122233      |           |       |
Full Flush          | W111222        | W345      |       | W123456789
Full Flush          | W111222        | W3333     |       | W123456789
Full Flush          | W11122         | W3333     |       |
Full Flush          | W111222333     | F111      |       |
Full Flush          | W111222333     |           | W44445555666677778888 W99  | W123456789
Full Flush          | W111222333     |           | W44445555666677778888 W999 |
Half Flush          | W11223344 F11  |           |       | W123456789
Half Flush          | W1122334 F11   |           |       |
Half Flush          | W11223 F11 J22 |           |       | W123456789
Half Flush          | W1122 F11 J22  |           |       |
Half Flush          | W11223344556   |           |       | W123456789
Half Flush          | W1122334455 F1 |           |       |
Half Flush          | W11223344      | F111      |       | W123456789
Half Flush          | W11223 F11     | W456      |       | W123456789
Half Flush          | W11223344 F11  | T123      |       |
Half Flush          | W12 T12 F11 J12233 | W456  |       | W123456789
Half Flush          | W123 T12 F11 J2233 |       |       | W123456789 / T123456789
Half Flush          | W123 T1 F11 J2233  |       |       | W123456789
Seven Pairs         | W11 W55 T22 F11   |        |       | W15 T2 F1
Seven Pairs         | W11 W55 T22       |        |       |
Seven Pairs         | W1111 T22 F11     |        |       | W1 T2 F1
Seven Pairs         | W111 T22 F11      |        |       |
Seven Pairs         | W11 W55 T22 F11   | B111   |       |
All Pungs           | W111 T22 T55 F11  |        |       | W1 T25 F1
All Pungs           | W1111 T22 T55 F11 |        |       | W1 T25 F1
All Pungs           | W111 T22 T55      |        |       |
All Pungs           | W11 T22 T55 F11   |        |       |
All Pungs           | T22 T55 F11       | W111   |       | W1 T25 F1
All Pungs           | T22 T55           | W1111 F111 |   | W1 T25 F1
All Pungs           | T22               | W1111 F111 |   |
All Pungs           | W111 T22 T55 F11  | W234   |       |
All Pungs           | W111 T22 T55 F11  |        | T2    | W1 T25 F1
All Pungs           | W111 T22 T55 F11  |        | T22   |
All Pungs           | W111 T22 T55 F11 J11 |     | T22   | W1 T25 F1 J1
Lesser Honours and Knitted Tiles | W147 T258 B36 F12  |      |       | W147 T258 B369 F1234 J123
Lesser Honours and Knitted Tiles | W147 T258 B36 F11  |      |       |
Lesser Honours and Knitted Tiles | W147 T258 B3 F1123 |      |       | W147 T258 B369 F1234 J123
Lesser Honours and Knitted Tiles | W147 T258 B36 F12  | J111 |       |
Lesser Honours and Knitted Tiles | W147 T258 B36 F12  |      | F33334444 | W147 T258 B369 F1234 J123
Lesser Honours and Knitted Tiles | W147 T258 B36 F12  |      | F33334444 J1111 |
Knitted Straight    | W147 T258 B3      |        |       | W147 T258 B369
Knitted Straight    | W147 T258         |        |       |
Knitted Straight    | W147 T255 B36     |        |       | W147 T258 B369
Knitted Straight    | W147 T258 B3      |        | B999  | W147 T258 B369
Knitted Straight    | W147 T258 B3      |        | B9999 |
Knitted Straight    | W147 T258 B3      | T555   |       | W147 T258 B369
Knitted Straight    | W147 T258 B3      | T444 F111 |    |
Outside Hand        | W12 W89 T11 F11   |        |       | W123789 T1 F1
Outside Hand        | W12 W89 T11 F1    |        |       |
Outside Hand        | W23 W89 T11 F11   |        |       |
Outside Hand        | W1123 W9 F11      |        |       |
Outside Hand        | W1123 W99 F11     |        |       | W1239 F1
Outside Hand        | W89 T11 F11       | W123   |       | W123789 T1 F1
Outside Hand        | W12 W89 T11       | F111   |       | W123789 T1 F1
Outside Hand        | W12 W89 T11 F11   | W234   |       |
Outside Hand        | W12 W89 T11 F11   | T555   |       |
Outside Hand        | W12 W89 T11 B99   |        |       | W123789 T1 B9
Outside Hand        | W12 W89 T11 B99 F1|        |       | W123789 T1 B9 / W123789 T1 B9
Outside Hand        | W12 W89 T11 B99 F11 |      |       | W123789 T1 B9 F1 / W123789 T1 B9
Outside Hand        | W12 W89 T11       | F1111 |        | W123789 T1 F1
Upper Four          | W6789 T667 B899   |        |       | W6789 T6789 B6789
Upper Four          | W6789 T667 B89    |        |       |
Upper Four          | W6789 T667        | B789   |       | W6789 T6789 B6789
Upper Four          | W6789 T66         | B7777  |       |
Upper Four          | W6789 T667 B899   | B567   |       |
Upper Four          | W6789 T667 B899   | F111   |       |
Lower Four          | W1234 T112 B344   |        |       | W1234 T1234 B1234
Lower Four          | W1234 T112 B34    |        |       |
Lower Four          | W1234 T112        | B234   |       | W1234 T1234 B1234
Lower Four          | W1234 T112 B344   | B345   |       |
"""


def table(cases: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in cases.strip().splitlines()]


@pytest.mark.parametrize(("fan", "hand", "melds", "gone", "expected"), table(CASES))
def test_a_fan_is_advised_from_its_minimum_on(fan: str, hand: str, melds: str, gone: str, expected: str) -> None:
    assert parts(fan, hand, melds, gone) == (expected.split(" / ") if expected else [])


def test_every_fan_has_cases_with_and_without_advice() -> None:
    found = {(fan, bool(expected)) for fan, *_, expected in table(CASES)}
    assert found == {(fan, is_advised) for fan in FANS for is_advised in (True, False)}


def test_seven_pairs_need_more_kinds_with_three_unseen_tiles_than_pairs_are_missing() -> None:
    hand, others = "W11 W55 T22 F11", "W2346789 T13456789 B123456789 F234 J123"
    for fresh, is_advised in ((5, False), (6, True)):  # (14 - 4) / 2 = 5
        gone = kinds(others)[fresh:] * 2
        counts = counts_of(hand)
        np.subtract.at(counts[UNSEEN], gone, 1)
        assert advice_of(counts)[FIRST_SLOTS[FANS.index("Seven Pairs")]].any() == is_advised


# fan, concealed tiles, tiles that are gone, what to keep, what to drop
VALUES = """
Mixed Shifted Chows | W12 T23 B3 F1 J22   |      | W123 T234 B345 |
Pure Straight       | W124578 T55 F1      |      | W123456789     |
Full Flush          | W111222333 T5 F11   |      | W123456789     | T123456789 B123456789 F1234 J123
Half Flush          | W11223344 T5 F11    |      | W123456789     | T123456789 B123456789
Seven Pairs         | W11 W55 T22 F11 J12 | J222 | W15 T2 F1      | J2
All Pungs           | W111 T22 T55 F11 J12 | J222 | W1 T25 F1     | J2
Lesser Honours and Knitted Tiles | W147 T258 B36 F12 | | W147 T258 B369 F1234 J123 | W235689 T134679 B124578
Knitted Straight    | W147 T258 B3 F1     |      | W147 T258 B369 |
Outside Hand        | W12 W89 T11 F11 B5  |      | W123789 T1 F1  | W456 T456 B456
Upper Four          | W6789 T667 B899 F1  |      | W6789 T6789 B6789 | W12345 T12345 B12345 F1234 J123
Lower Four          | W1234 T112 B344 F1  |      | W1234 T1234 B1234 | W56789 T56789 B56789 F1234 J123
"""


@pytest.mark.parametrize(("fan", "hand", "gone", "keep", "drop"), table(VALUES))
def test_an_advice_says_what_to_keep_and_what_to_drop(fan: str, hand: str, gone: str, keep: str, drop: str) -> None:
    assert [advice[1:] for advice in advised(fan, hand, gone=gone)] == [(keep, drop)]


def test_a_second_outside_hand_drops_the_honours() -> None:
    assert advised("Outside Hand", "W12 W89 T11 B99 F1")[1][2] == "W456 T456 B456 F1234 J123"


def test_slots_go_to_few_missing_tiles_and_then_to_many_unseen_copies() -> None:
    low, high = "W123 T123 B123", "W789 T789 B789"
    assert parts("Mixed Triple Chow", "W12 T12 B1 W89 T89 B9", gone="W3") == [high, low]
    assert parts("Mixed Triple Chow", "W12 T12 B1 W89 T89 B9", gone="W7") == [low, high]
    assert parts("Mixed Triple Chow", "W12 T12 B1 W89 T89 B89", gone="W77") == [high, low]
    hand = "W12 T12 B1 W456 T456 B456 W9"
    assert parts("Mixed Triple Chow", hand, gone="W3") == ["W456 T456 B456", "W567 T567 B567"]


def orders_of(bits: int) -> Iterator[int]:
    """Return a set of kinds with the suits in each order of SUIT_ORDERS."""
    for order in SUIT_ORDERS:
        moved = bits >> 27 << 27
        for suit in range(3):
            moved |= (bits >> 9 * suit & 511) << 9 * int(order[suit])
        yield moved


@pytest.mark.parametrize(
    ("hand", "melds"),
    [
        ("W12 T12 B23 F1", ""),
        ("W1245 T1245 B68 F11", ""),
        ("W12389 T12389 B789", ""),
        ("W1234 T1234 B1234 F1", ""),
        ("W15 T15 B15 F1234", ""),
        ("W147 T147 B258 F1 J1", ""),
        ("W12 T12 F11 J1122", ""),
        ("W23 T23 B3", "W345 T345"),
        ("W23 T23 B3", "W345 W555"),
        ("W13468 T258 B3 F11 J1", ""),
    ],
)
def test_an_exchange_of_suits_exchanges_the_advice_also_of_equal_suits(hand: str, melds: str) -> None:
    counts = counts_of(hand, melds)
    before = advice_of(counts)
    assert before.any()
    for number, order in enumerate(SUIT_ORDERS):
        exchanged = counts.copy()
        for suit in range(3):
            exchanged[:, 9 * order[suit] : 9 * order[suit] + 9] = counts[:, 9 * suit : 9 * suit + 9]
        after = [[list(orders_of(int(bits)))[number] for bits in row] for row in before]
        assert advice_of(exchanged).tolist() == after


def slow_plans() -> Iterator[tuple[str, list[int]]]:
    """Return the fans of three chows, each by its lowest kinds."""
    for low in range(7):
        yield "Mixed Triple Chow", [low, 9 + low, 18 + low]
    for order in permutations((0, 9, 18)):
        yield "Mixed Straight", [suit + 3 * place for place, suit in enumerate(order)]
        for low in range(5):
            yield "Mixed Shifted Chows", [suit + low + place for place, suit in enumerate(order)]
    for suit, shift in product((0, 9, 18), (1, 2)):
        for low in range(7 - 2 * shift):
            yield "Pure Shifted Chows", [suit + low + shift * place for place in range(3)]


def slow_missing(counts: I8, lows: list[int]) -> dict[int, int] | None:
    """Return the missing tiles of three chows, by kind; None if they are not advised. Deals tiles in all ways."""
    concealed = [low for low in lows if counts[CHOWS, low] == 0]
    if counts[CHOWS].sum() + counts[PUNGS].sum() - (3 - len(concealed)) > 1:
        return None
    where = {
        kind: [low for low in concealed if low <= kind < low + 3] for low in concealed for kind in range(low, low + 3)
    }
    held = {kind: min(int(counts[OWN, kind]), len(chows)) for kind, chows in where.items()}
    missing = {kind: len(where[kind]) - held[kind] for kind in where if held[kind] < len(where[kind])}
    if any(counts[UNSEEN, kind] < number for kind, number in missing.items()):
        return None
    for deal in product(*(combinations(where[kind], held[kind]) for kind in where)):
        sizes = sorted(sum(low in chows for chows in deal) for low in concealed)
        if all(size >= least for size, least in zip(sizes, (1, 2, 2), strict=False)):
            return missing
    return None


def test_chows_are_those_of_a_slow_twin_on_random_hands() -> None:
    rng, plans, met = np.random.default_rng(1), list(slow_plans()), 0
    for number in range(250):
        tiles = rng.permutation(108 if number % 2 else 72)[:27] // 4  # also of two suits only
        counts = np.zeros((4, 34), np.int8)
        np.add.at(counts[OWN], tiles[: 13 - 3 * (number % 3)], 1)
        for _ in range(number % 3):
            counts[CHOWS, 9 * rng.integers(3) + rng.integers(7)] += 1
        counts[UNSEEN] = rng.integers(0, 4, 34)
        advice = advice_of(counts)
        for fan in {name for name, _ in plans}:
            expected = {}
            for name, lows in plans:
                if name == fan and (missing := slow_missing(counts, lows)) is not None:
                    part = sum({1 << kind for low in lows for kind in range(low, low + 3)})
                    expected[part] = sum(missing.values()), -sum(int(counts[UNSEEN, kind]) for kind in missing)
            at = FIRST_SLOTS[FANS.index(fan)]
            found = [int(row[PART]) for row in advice[at : at + SLOTS[fan]] if row.any()]
            assert [expected[part] for part in found] == sorted(expected.values())[: SLOTS[fan]]
            met += len(found)
    assert met > 300


BASES = """
W159 T159 B159 F123 J1          |           |                    | F123 J1
W123 W99 T56 B1 F123 J12        |           | W1239 T56          | F123 J12
W123 W99 T56 B1 F123 J12        | B22223333 | W1239 T56          | B1 F123 J12
W123 W99 T56 B1 F123 J12        | B2222333  | W1239 T56          | F123 J12
W123 W99 T68 B15 J1123          |           | W1239 T68 J1       | J23
"""


@pytest.mark.parametrize(("hand", "gone", "keep", "drop"), table(BASES))
def test_without_advice_a_standard_hand_is_kept(hand: str, gone: str, keep: str, drop: str) -> None:
    advice = advice_of(counts_of(hand, gone=gone))
    assert not advice[:NUM_SLOTS].any()
    assert (text(advice[NUM_SLOTS, KEEP]), text(advice[NUM_SLOTS, DROP])) == (keep, drop)


def test_the_base_advice_is_empty_as_soon_as_a_slot_is_filled() -> None:
    assert not advice_of(counts_of("W12 T23 B3 F1234 J123 W99"))[NUM_SLOTS].any()
