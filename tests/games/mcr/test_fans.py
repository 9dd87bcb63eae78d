"""MCR's fans: the examples of the rules, the slow twin, symmetries, complete hands."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from suphx.games.mahjong.shanten import load_suits
from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, MINKAN_MELD, PON_MELD
from suphx.games.mcr.fan_table import EXCLUDED, VALUES
from suphx.games.mcr.fans import (
    FANS,
    KNITTED_WAITS_2024,
    KONG,
    LAST_OF_KIND,
    LAST_TILE,
    MIXED_KONGS,
    NUM_FANS,
    SELF_DRAWN,
    count_fans,
    is_complete,
)
from tests.games.mcr.random_wins import Win, random_win
from tests.games.mcr.slow_fans import NOT, best_fans
from tests.games.mcr.slow_fans import VALUES as TWIN_VALUES

SUITS = load_suits()
FIRST_KIND = {"W": 0, "B": 9, "T": 18, "F": 27}
DRAGONS = {"1": 33, "2": 32, "3": 31}  # red, green, white


def kinds_of(text: str) -> list[int]:
    """Return the kinds of a text such as ``W123 B5 J1J1``."""
    return [
        DRAGONS[digit] if suit == "J" else FIRST_KIND[suit] + int(digit) - 1
        for suit, digits in re.findall(r"([WBTFJ])([0-9]+)", text)
        for digit in digits
    ]


def win_of(text: str, circumstances: int = 0, round_wind: int = 0, seat_wind: int = 0) -> Win:
    """Return the hand of a text: ``[open melds] (concealed kongs) concealed tiles | winning tile``."""
    melds = []
    for bracket, tiles in re.findall(r"([\[(])([^\])]*)[\])]", text):
        kinds = kinds_of(tiles)
        form = CHI_MELD if kinds[0] != kinds[1] else PON_MELD if len(kinds) == 3 else MINKAN_MELD
        melds.append((ANKAN_MELD if bracket == "(" else form, kinds[0]))
    concealed = kinds_of(re.sub(r"\[.*?\]|\(.*?\)", "", text))
    return Win(tuple(concealed), concealed[-1], tuple(melds), circumstances, round_wind, seat_wind)


def fans_of(win: Win, options: int = MIXED_KONGS) -> tuple[int, dict[int, int]]:
    """Return the total and how often each fan counts."""
    found = np.full(NUM_FANS + 1, 99, np.int8)
    total = count_fans(
        SUITS, win.counts, *win.meld_arrays(), len(win.melds), win.win_kind, win.circumstances, win.round_wind,
        win.seat_wind, options, found,
    )  # fmt: skip
    return total, {number: int(count) for number, count in enumerate(found) if count}


def listed(text: str) -> dict[int, int]:
    """Return the fans of a text such as ``62 + 70 x 2``."""
    parts = [part.split(" x ") for part in text.split(" + ")]
    return {int(part[0]): int(part[1]) if len(part) > 1 else 1 for part in parts}


EXAMPLES = [
    # principles of counting: chows
    ("T234 T567 B234 B56 W88 | B7", 0, "62 + 63 + 68 + 70 x 2 + 71", 9),
    ("T234 B22 B33 B44 B56 W88 | B7", 0, "62 + 63 + 68 + 69 + 70 + 71", 9),
    ("W234 T345 B456 W23 J1J1 | W4", 0, "50 + 62 + 69", 9),
    ("W123 W456 W789 B23 T55 | B4", 0, "28 + 62 + 63", 20),
    ("W1122 W33 T77 T88 T99 B5 | B5", 0, "19 + 76", 25),
    ("W1111 B22 B55 T66 T99 F1 | F1", 0, "19 + 64", 26),
    ("[W123] [B789] W34 T678 F3F3 | W5", 0, "43", 8),
    # melded hand
    ("[W222] [T333] [B888] [W777] B5 | B5", SELF_DRAWN, "48 + 68 + 79 + 80", 10),
    ("[W222] [T234] [B888] [W678] B5 | B5", 0, "52 + 68", 8),
    # concealed pungs
    ("W222 T555 B77 B88 F111 | B7", 0, "33 + 48 + 60 + 61 + 62", 28),
    ("W222 T555 B77 B88 F111 | B7", SELF_DRAWN, "12 + 60 + 61 + 80", 69),
    ("W222 T555 B67 B888 F11 | B8", 0, "33 + 62 + 64", 20),
    ("W456 W6 T222 B345 F111 | W6", 0, "60 + 61 + 62 + 66", 8),
    ("[B9999] (T5555) W23 B345 F22 | W4", 0, "73 + 82", 6),
    # circumstances
    ("W23 T666 B345 B678 F22 | W1", KONG | LAST_OF_KIND, "47 + 62 + 71", 11),
    ("W23 T666 B345 B678 F22 | W1", SELF_DRAWN | LAST_TILE, "44 + 56 + 71", 13),
    # special hands
    ("W111 W2345678 W999 | W5", SELF_DRAWN, "4 + 66 + 73 + 80", 92),
    ("W147 B258 T369 F1F2F3 J1 | J2", 0, "34 + 35", 24),
    ("F111 W234 B567 T88 T34 | T5", 0, "60 + 61 + 62", 6),
    # kongs and concealed pungs
    ("[W2222] T555 B888 W678 B5 | B5", 0, "66 + 68 + 74 + 79", 6),
    ("(W2222) T555 B888 W678 B5 | B5", 0, "33 + 62 + 67 + 68 + 79", 23),
    ("(W2222) (T5555) B888 W678 B5 | B5", 0, "33 + 53 + 62 + 68 + 79", 27),
    ("[W2222] [T5555] [B8888] B777 W3 | W3", SELF_DRAWN, "17 + 48 + 68 + 79 + 80", 42),
    ("(W2222) [T5555] [B8888] B777 W3 | W3", SELF_DRAWN, "17 + 48 + 66 + 68 + 79 + 80", 44),
    ("(W2222) (T5555) [B8888] [B7777] W3 | W3", SELF_DRAWN, "5 + 66 + 68 + 80", 93),
    # hands of one kind of tile
    ("F111 F222 F333 F444 J1 | J1", 0, "1 + 11 + 12 + 79", 217),
    ("W11 W22 W33 W44 W55 W66 W7 | W7", 0, "6", 88),
    ("W19 B19 T19 F1F2F3F4 J1J2J3 | J3", SELF_DRAWN, "7 + 80", 89),
    ("[W123] [W123] W78 W789 W55 | W9", 0, "13", 64),
]


@pytest.mark.parametrize(("text", "circumstances", "expected", "total"), EXAMPLES)
def test_examples_count_as_the_rules_say(text: str, circumstances: int, expected: str, total: int) -> None:
    win = win_of(text, circumstances)
    assert fans_of(win) == (total, listed(expected))
    assert best_fans(win, True, False)[0] == total


def test_options_change_mixed_kongs_and_waits_beside_a_knitted_straight() -> None:
    kongs = win_of("[B9999] (T5555) W23 B345 F22 | W4")
    assert fans_of(kongs, 0) == (4, {67: 1, 73: 1, 74: 1})
    pair = win_of("[W789] W147 B258 T369 W1 | W1", SELF_DRAWN)
    assert fans_of(pair) == (15, {35: 1, 63: 1, 80: 1})
    assert fans_of(pair, KNITTED_WAITS_2024) == (16, {35: 1, 63: 1, 79: 1, 80: 1})


def test_fans_are_numbered_by_the_table() -> None:
    assert [value for _, _, value in FANS] == [TWIN_VALUES[number] for number in range(1, 83)] == VALUES[1:].tolist()
    assert FANS[42] == ("Chicken Hand", "无番和", 8)
    assert len({name for name, _, _ in FANS}) == len({name for _, name, _ in FANS}) == NUM_FANS
    for number, excluded in EXCLUDED.items():
        assert all(number < other for other in excluded)  # one pass settles all (settle)
        assert number == 4 or set(excluded) <= set(map(int, NOT[number].split()))  # the twin counts Nine Gates apart


def test_2000_random_wins_count_as_in_the_slow_twin() -> None:
    rng = Random(1)
    for i in range(2000):
        win = random_win(rng)
        options = i % 4
        total, fans = fans_of(win, options)
        expected, lists = best_fans(win, bool(options & MIXED_KONGS), bool(options & KNITTED_WAITS_2024))
        assert total == expected, win
        assert fans in lists, win


def test_suits_and_the_order_of_melds_do_not_matter() -> None:
    rng = Random(2)
    checked = 0
    while checked < 500:
        win = random_win(rng)
        total, fans = fans_of(win)
        if {3, 40} & set(fans):
            continue
        shift = rng.choice((9, 18))

        def moved(kind: int, shift: int = shift) -> int:
            return (kind + shift) % 27 if kind < 27 else kind

        other = replace(
            win,
            concealed=tuple(moved(kind) for kind in win.concealed),
            win_kind=moved(win.win_kind),
            melds=tuple((meld, moved(kind)) for meld, kind in reversed(win.melds)),
        )
        other_total, other_fans = fans_of(other)
        if not {3, 40} & set(other_fans):
            assert other_total == total, (win, other)
            checked += 1


def test_hands_are_complete_exactly_if_they_have_a_reading() -> None:
    rng = Random(3)
    num_complete = 0
    for _ in range(1000):
        win = random_win(rng)
        assert is_complete(SUITS, win.counts, len(win.melds))
        tiles = list(win.concealed)
        tiles[rng.randrange(len(tiles))] = rng.randrange(34)
        other = replace(win, concealed=tuple(tiles), win_kind=tiles[0])
        if max(other.counts) > 4:
            continue
        expected = has_reading(other)
        assert is_complete(SUITS, other.counts, len(win.melds)) == expected, other
        assert (fans_of(other)[0] > 0) == expected
        num_complete += expected
    assert 30 < num_complete < 900


def has_reading(win: Win) -> bool:
    """Tell whether a hand is complete, in plain Python."""
    try:
        return bool(best_fans(win, True, True)[0])
    except ValueError:  # no reading
        return False
