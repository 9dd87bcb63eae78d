"""Random winning hands count the same here and in the PyPI library ``PyMahjongGB``, with its reading of knitted waits.

The library shows another reading than ours where two have the same total; the slow twin says which lists are possible.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest

from suphx.games.mahjong.shanten import load_suits
from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, PON_MELD
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
)
from tests.games.mcr.random_wins import Win, random_win
from tests.games.mcr.slow_fans import best_fans

peer: Any = pytest.importorskip("MahjongGB", reason="needs pip install PyMahjongGB==1.4.0 and a C++ compiler")

SUITS = load_suits()
NAMES = [f"{suit}{rank}" for suit in "WBT" for rank in range(1, 10)] + ["F1", "F2", "F3", "F4", "J3", "J2", "J1"]
NUMBERS = {chinese: number for number, (_, chinese, _) in enumerate(FANS, 1)}
NUMBERS |= {"独听・边张": 77, "独听・嵌张": 78, "独听・单钓": 79}
FLOWER_TILES = 81


def fans_by_peer(win: Win) -> tuple[int, Counter[int]]:
    packs = []
    for meld, kind in win.melds:
        if meld == CHI_MELD:
            packs.append(("CHI", NAMES[kind + 1], 1))
        else:
            packs.append(("PENG" if meld == PON_MELD else "GANG", NAMES[kind], 0 if meld == ANKAN_MELD else 1))
    held = list(win.concealed)
    held.remove(win.win_kind)
    flags = [bool(win.circumstances & bit) for bit in (SELF_DRAWN, LAST_OF_KIND, KONG, LAST_TILE)]
    tiles = tuple(NAMES[kind] for kind in held), NAMES[win.win_kind]
    result = peer.MahjongFanCalculator(tuple(packs), *tiles, 0, *flags, win.seat_wind, win.round_wind, True)
    total = sum(value * count for value, count, *_ in result)
    return total, Counter({NUMBERS[name]: count for _, count, name, *_ in result})


def our_fans(win: Win) -> tuple[int, Counter[int]]:
    found = np.zeros(NUM_FANS + 1, np.int8)
    total = count_fans(
        SUITS, win.counts, *win.meld_arrays(), len(win.melds), win.win_kind, win.circumstances, win.round_wind,
        win.seat_wind, MIXED_KONGS | KNITTED_WAITS_2024, found,
    )  # fmt: skip
    return total, Counter({number: int(count) for number, count in enumerate(found) if count})


def compare(num_wins: int, seed: int) -> Counter[int]:
    """Compare ``num_wins`` hands; return how often each fan came up."""
    rng = Random(seed)
    seen: Counter[int] = Counter()
    for _ in range(num_wins):
        win = random_win(rng)
        total, fans = our_fans(win)
        peer_total, peer_fans = fans_by_peer(win)
        assert total == peer_total, win
        if fans != peer_fans:
            possible = best_fans(win, True, True)[1]
            assert fans in possible, win
            assert peer_fans in possible, win
        seen.update(fans.keys())
    return seen


def test_2000_random_wins_count_the_same() -> None:
    compare(2000, 0)


@pytest.mark.slow
def test_170000_random_wins_count_the_same_and_show_every_fan() -> None:
    seen = compare(170_000, 1)
    assert {number for number in range(1, NUM_FANS + 1) if seen[number] == 0} == {FLOWER_TILES}
