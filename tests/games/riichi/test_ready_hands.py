from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np
import pytest

from suphx.games.mahjong import ready_hands
from suphx.games.mahjong.shanten import load_suits, standard_shanten
from suphx.games.riichi.ready_hands import TENPAI_DEAL, deal_tenpai
from suphx.games.riichi.shanten import find_waits
from suphx.games.riichi.tile import parse_kinds
from suphx.kernel.record import I64
from tests.games.riichi.twins.tenpai_twin import Kinds, kinds_held, kinds_of, ready_sets, surprise, tenpai_hands

HIDDEN = [
    ("111222333444555m1p", 0),
    ("1112345678999m12356p", 0),
    ("23455567m456p33788s", 0),
    ("11223344556677m2288p", 0),
    ("1199m19p19s12345677z", 0),
    ("19m19p19s1234567z12m99p", 0),
    ("112233m445566p7788s1z", 0),
    ("1111222233334444m", 0),
    ("11112233m555z678p67s1z", 1),
    ("123456m777p5556z1234s", 2),
    ("1123456789m11223344p55567z", 3),
    ("11119m5p1277z", 4),
]


def weights_of(left: I64) -> Any:
    weights = np.zeros(1, ready_hands.TENPAI_WEIGHTS)[0]
    ready_hands.weigh_tenpai(ready_hands.load_tenpai_table(), weights, left, ready_hands.SEVEN_PAIRS)
    return weights


def draw(tiles: str, num_melds: int, number: int) -> list[Kinds]:
    weights = weights_of(np.bincount(parse_kinds(tiles), minlength=34))
    hand, state = np.zeros(34, np.int8), np.array([1])
    found = []
    for _ in range(number):
        assert ready_hands.draw_tenpai(ready_hands.load_tenpai_table(), load_suits(), weights, num_melds, hand, state)
        found.append(kinds_held(hand))
    return found


def is_both(kinds: Kinds) -> bool:
    """Tell whether a tenpai hand is one of seven pairs and one of sets."""
    hand = np.bincount(kinds, minlength=34).astype(np.int8)
    return bool((hand == 2).sum() == 6 and len(kinds) == 13 and standard_shanten(load_suits(), hand, 0) == 0)


@pytest.mark.parametrize(("tiles", "num_melds"), HIDDEN)
def test_hands_are_counted_as_by_trying_all_sets_of_tiles(tiles: str, num_melds: int) -> None:
    weights = weights_of(np.bincount(parse_kinds(tiles), minlength=34))
    ways = tenpai_hands(tiles, num_melds)
    twice = sum(number for kinds, number in ways.items() if is_both(kinds))
    assert ready_hands.count_tenpai(ready_hands.load_tenpai_table(), weights, num_melds) == sum(ways.values()) + twice


@pytest.mark.parametrize(("tiles", "num_melds"), HIDDEN)
def test_every_set_of_tiles_is_equally_likely(tiles: str, num_melds: int) -> None:
    ways = tenpai_hands(tiles, num_melds)
    draws = draw(tiles, num_melds, 6000)
    assert abs(surprise(draws, ways)) < 4
    assert len(ways) < 600
    assert set(draws) == set(ways)


def test_random_hidden_tiles_are_counted_exactly() -> None:
    rng = np.random.default_rng(4)
    for num_melds in (0, 0, 0, 1, 2, 3, 4):
        numbers = np.bincount(rng.choice(40, 17, replace=False) // 4, minlength=10)
        tiles = "".join(f"{i + 1}m" if i < 9 else "5z" for i in range(10) for _ in range(numbers[i]))
        weights = weights_of(np.bincount(parse_kinds(tiles), minlength=34))
        ways = tenpai_hands(tiles, num_melds)
        twice = sum(number for kinds, number in ways.items() if is_both(kinds))
        assert (
            ready_hands.count_tenpai(ready_hands.load_tenpai_table(), weights, num_melds) == sum(ways.values()) + twice
        )


def test_seven_pairs_and_thirteen_orphans_are_drawn_where_only_they_are_ready() -> None:
    assert {len(set(kinds)) for kinds in draw("1133m1155p1177s2255z9m", 0, 500)} == {7}
    assert {len(set(kinds)) for kinds in draw("19m19p19s1234567z1z5m", 0, 500)} == {12, 13}
    assert len(set(draw("19m19p19s123456z66z5m", 0, 500))) == 1


def test_a_wait_of_which_the_hand_holds_all_four_is_no_wait() -> None:
    assert set(draw("1111234567m222z", 1, 100)) <= set(tenpai_hands("1111234567m222z", 1))
    assert tenpai_hands("1111m", 3) == {}
    weights = weights_of(np.bincount(parse_kinds("1111m"), minlength=34))
    assert ready_hands.count_tenpai(ready_hands.load_tenpai_table(), weights, 3) == 0


def test_no_ready_hand_is_told() -> None:
    weights = weights_of(np.bincount(parse_kinds("147m147p147s1234z"), minlength=34))
    hand, state = np.zeros(34, np.int8), np.array([1])
    assert not ready_hands.draw_tenpai(ready_hands.load_tenpai_table(), load_suits(), weights, 0, hand, state)


def test_a_single_tile_beside_four_melds_is_ready() -> None:
    weights = weights_of(np.full(34, 4))
    assert ready_hands.count_tenpai(ready_hands.load_tenpai_table(), weights, 4) == 136


def test_hands_of_the_whole_set_of_tiles_are_ready_and_of_all_forms() -> None:
    weights = weights_of(np.full(34, 4))
    hand, state = np.zeros(34, np.int8), np.array([1])
    is_sevens = []
    for _ in range(5000):
        ready_hands.draw_tenpai(ready_hands.load_tenpai_table(), load_suits(), weights, 0, hand, state)
        is_sevens.append((hand == 2).sum() == 6)
    # Six kinds of 34 twice, and one of the others.
    share = comb(34, 6) * 6**6 * 28 * 4 / ready_hands.count_tenpai(ready_hands.load_tenpai_table(), weights, 0)
    assert abs(np.mean(is_sevens) - share) < 4 * np.sqrt(share / 5000)


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
        assert deal_tenpai(ready_hands.load_tenpai_table(), load_suits(), deal, state)
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
        assert not deal_tenpai(ready_hands.load_tenpai_table(), load_suits(), deal, np.array([1]))
