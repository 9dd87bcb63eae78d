from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from suphx.games.dazhong.discard_lists import MAX_LENGTH, NUM_LISTS, fill_first_list, fill_list
from suphx.games.mahjong.tile import kind_name, parse_names
from suphx.kernel.record import I8
from tests.games.dazhong.lists_twin import LISTS, NUM_GOLDEN, lists_of, random_hand

KINDS = {kind_name(kind): kind for kind in range(27)}


def lists_by_kernel(hand: I8) -> list[list[int]]:
    kinds = np.zeros(MAX_LENGTH, np.int8)
    lengths = [0]
    for number in range(1, NUM_LISTS + 1):
        lengths.append(fill_list(hand, number, kinds, lengths[-1]))
    return [kinds[first:last].tolist() for first, last in pairwise(lengths)]


def test_random_hands_have_the_lists_of_the_twin() -> None:
    rng = np.random.default_rng(60)
    lengths: Counter[int] = Counter()
    for _ in range(20_000):
        hand = random_hand(rng)
        lists = lists_by_kernel(hand)
        assert lists == lists_of(hand)
        lengths.update(number for number, kinds in enumerate(lists, 1) if kinds)
    assert min(lengths[number] for number in range(1, NUM_LISTS + 1)) > 2000


def test_golden_hands_have_their_lists() -> None:
    golden = json.loads(LISTS.read_text(encoding="utf-8"))
    assert len(golden) == NUM_GOLDEN
    for tiles, *lists in golden:
        hand = np.bincount(parse_names(tiles, KINDS), minlength=34).astype(np.int8)
        assert [" ".join(map(kind_name, kinds)) for kinds in lists_by_kernel(hand)] == lists


@pytest.mark.parametrize(
    ("tiles", "first"),
    [
        ("1m5p9s", "9s 1m 5p"),  # bamboo first; ends before middles
        ("11122233344m", ""),
        ("1112223335m", "5m"),  # two ranks from a triplet
        ("14m", "1m 4m"),
        ("13m55p", "1m"),
    ],
)
def test_the_first_list_that_is_not_empty(tiles: str, first: str) -> None:
    kinds = np.zeros(MAX_LENGTH, np.int8)
    length = fill_first_list(np.bincount(parse_names(tiles, KINDS), minlength=34).astype(np.int8), kinds)
    assert " ".join(map(kind_name, kinds[:length])) == first
