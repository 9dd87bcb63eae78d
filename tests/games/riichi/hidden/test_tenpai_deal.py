from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from suphx.games.riichi.hand.suit_table import load_suits
from suphx.games.riichi.hand.ukeire import find_waits
from suphx.games.riichi.hidden.tenpai_deal import TENPAI_DEAL, deal_tenpai
from suphx.games.riichi.hidden.tenpai_table import load_tenpai_table
from suphx.games.riichi.table.tile import parse_kinds
from tests.games.riichi.twins.tenpai_twin import Kinds, kinds_held, kinds_of, ready_sets, surprise

TILES = "11123334455566m7p"
BESIDE_THREE = "1112233m4455p"


def deals(
    tiles: str, num_melds: Sequence[int], number: int, let_pass: Sequence[int] = (0, 0, 0, 0)
) -> list[tuple[Kinds, ...]]:
    """By deal: the hands of the seats that need one."""
    deal: Any = np.zeros(1, TENPAI_DEAL)[0]
    deal["left"] = np.bincount(parse_kinds(tiles), minlength=34)
    deal["num_melds"] = num_melds
    deal["let_pass"] = let_pass
    state = np.array([11])
    found = []
    for _ in range(number):
        assert deal_tenpai(load_tenpai_table(), load_suits(), deal, state)
        assert (deal["hand"].sum(axis=0) <= deal["left"]).all()
        found.append(tuple(kinds_held(hand) for hand, m in zip(deal["hand"], num_melds, strict=True) if m >= 0))
    return found


def ways_together(tiles: str, num_melds: Sequence[int]) -> Counter[tuple[Kinds, ...]]:
    """How many ways there are to deal tenpai hands of different tiles, by trying all."""
    chosen = np.zeros((1, 0), np.int64)
    for m in num_melds:
        sets = ready_sets(tiles, m)
        is_apart = (np.bitwise_or.reduce(chosen, axis=1)[:, None] & sets) == 0
        before, last = np.nonzero(is_apart)
        chosen = np.column_stack([chosen[before], sets[last]])
    return Counter(tuple(kinds_of(tiles, int(bits)) for bits in row) for row in chosen)


def of_hand(number: int, ways: Counter[tuple[Kinds, ...]]) -> Counter[Kinds]:
    """How many of these ways a hand has."""
    found: Counter[Kinds] = Counter()
    for hands, times in ways.items():
        found[hands[number]] += times
    return found


def test_two_hands_are_dealt_in_all_ways_alike() -> None:
    ways = ways_together(TILES, [3, 3])
    found = deals(TILES, [-1, 3, -1, 3], 4000)
    assert {sum(len(hand) for hand in hands) for hands in found} == {8}
    assert abs(surprise(found, ways)) < 4
    for number in (0, 1):
        assert abs(surprise([hands[number] for hands in found], of_hand(number, ways))) < 4


def test_hands_that_do_not_wait_for_what_was_let_pass_are_dealt_in_all_ways_alike() -> None:
    six = int(parse_kinds("6m")[0])
    every = ways_together(TILES, [3, 3])
    ways = Counter({hands: times for hands, times in every.items() if not waits_for(hands[1], six)})
    assert 0.2 < ways.total() / every.total() < 0.9
    found = deals(TILES, [-1, 3, -1, 3], 4000, let_pass=(0, 0, 0, 1 << six))
    assert abs(surprise(found, ways)) < 4


def waits_for(hand: Kinds, kind: int) -> bool:
    """Tell whether a hand beside three melds waits for a kind."""
    return bool(find_waits([np.bincount(hand, minlength=34)], 3)[0, kind])


def test_the_first_hand_takes_care_of_what_it_leaves_to_the_second() -> None:
    tiles = TILES + "79p"
    ways = of_hand(0, ways_together(tiles, [2, 2]))
    assert abs(surprise([hands[0] for hands in deals(tiles, [2, 2, -1, -1], 3000)], ways)) < 4
    alone = [hands[0] for hands in deals(tiles, [2, -1, -1, -1], 3000)]
    assert surprise(alone, ways) > 20


def test_hands_that_hardly_ever_come_apart_by_chance_are_found() -> None:
    found = deals("123456789m1122p" + "123456789s1122z", [0, 0, -1, -1], 50)
    assert len({hands[0] for hands in found}) > 10


@pytest.mark.parametrize("number", range(3))
def test_three_hands_are_dealt_in_all_ways_alike(number: int) -> None:
    ways = of_hand(number, ways_together(BESIDE_THREE, [3, 3, 4]))
    found = [hands[number] for hands in deals(BESIDE_THREE, [3, 3, -1, 4], 1500)]
    assert abs(surprise(found, ways)) < 4


def test_nothing_is_dealt_where_nothing_is_needed_and_its_lack_is_told() -> None:
    assert deals("147m", [-1] * 4, 1) == [()]
    deal: Any = np.zeros(1, TENPAI_DEAL)[0]
    deal["left"] = np.bincount(parse_kinds("147m147p147s1234z"), minlength=34)
    for num_melds in ([0, -1, -1, -1], [0, 0, -1, -1], [0, 0, 0, -1]):
        deal["num_melds"] = num_melds
        assert not deal_tenpai(load_tenpai_table(), load_suits(), deal, np.array([1]))
