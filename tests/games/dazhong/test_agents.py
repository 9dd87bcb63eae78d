"""Each rule of the Fanfou agents on a position made for it; honest sampling of ready hands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from suphx.games.dazhong.agents import choose_scripted, count_wins, load_tools
from suphx.games.dazhong.hands import is_complete, is_ready
from suphx.games.dazhong.names import AGENTS
from suphx.games.dazhong.table import (
    CHOW,
    CLAIM,
    DECLARE,
    DISCARD,
    KONG,
    NO_KIND,
    NUM_KINDS,
    OWN_TURN,
    PASS,
    PUNG,
    START,
    TABLE,
    TING,
    WIN,
    move_text,
)
from suphx.games.mahjong.ready_hands import PAIRS_OF_PAIRS, count_tenpai, draw_tenpai, weigh_tenpai
from suphx.games.mahjong.shanten import load_suits, standard_shanten
from suphx.games.mahjong.tile import CHI_MELD, MINKAN_MELD, PON_MELD, add_meld, kind_name, parse_names
from suphx.kernel.record import I8, Records
from tests.games.dazhong.lists_twin import lists_of

KINDS = {kind_name(kind): kind for kind in range(NUM_KINDS)}
SUITS = load_suits()
MC = ("fanfou_mc", "fanfou_mc_programs")
OP = ("fanfou_op", *MC)
LISTS = ("fanfou_ba", *OP)


def counts_of(tiles: str) -> I8:
    return np.bincount(parse_names(tiles, KINDS), minlength=34).astype(np.int8)


def table_of(
    hand: str,
    *,
    claimed: str = "",
    shown: str = "",
    melds: Sequence[str] = (),
    ready: Sequence[int] = (),
    declares: bool = False,
    is_next: bool = True,
) -> Records:
    """Return a table at which seat 1 decides: its own turn, the last tile of ``hand`` drawn, or a claim.

    ``melds``: such as ``123m``, ``555p``; ``shown``: tiles of rivers besides; ``ready``: other seats that are ready.
    """
    table = np.zeros(1, TABLE)
    t = table[0]
    own = counts_of(hand)
    t["hand"][1], t["actor"], t["num_melds"][1], t["declares"] = own, 1, len(melds), declares
    t["shown"] += counts_of(shown)
    for place, meld in enumerate(melds):
        kinds = parse_names(meld, KINDS)
        meld_type = CHI_MELD if kinds[0] != kinds[1] else PON_MELD if len(kinds) == 3 else MINKAN_MELD
        t["meld_type"][1, place], t["meld_kind"][1, place] = meld_type, kinds[0]
        add_meld(t["shown"], meld_type, kinds[0], 1)
    t["ready"][list(ready)] = 1
    t["drawn"] = t["claimed"] = NO_KIND
    num_melds = len(melds)
    assert own.sum() == (13 if claimed else 14) - 3 * num_melds
    if claimed:
        t["phase"], t["turn"], t["claimed"] = CLAIM, 0, KINDS[claimed]
        t["shown"][t["claimed"]] += 1
        own[t["claimed"]] += 1
        t["legal"][PASS] = 1
        t["legal"][WIN] = is_complete(SUITS, own, num_melds)
        t["legal"][PUNG] = own[t["claimed"]] >= 3
        t["legal"][KONG + t["claimed"]] = own[t["claimed"]] == 4
        for lowest in range(max(t["claimed"] - 2, 0), t["claimed"] + 1):
            is_run = lowest % 9 < 7 and lowest // 9 == t["claimed"] // 9 and own[lowest : lowest + 3].all()
            t["legal"][CHOW + lowest] = is_run and is_next
        return table
    t["phase"], t["turn"], t["drawn"] = OWN_TURN, 1, parse_names(hand, KINDS)[-1]
    t["legal"][WIN] = is_complete(SUITS, own, num_melds)
    for kind in np.flatnonzero(own).tolist():
        t["legal"][DISCARD + kind] = 1
        is_pung = any(t["meld_kind"][1, i] == kind and t["meld_type"][1, i] == PON_MELD for i in range(num_melds))
        t["legal"][KONG + kind] = own[kind] == 4 or is_pung
        own[kind] -= 1
        t["legal"][TING + kind] = declares and is_ready(SUITS, own, num_melds)
        own[kind] += 1
    return table


def move_of(agent: str, table: Records) -> str:
    before = table.copy()
    move = choose_scripted(table[0], SUITS, load_tools(), AGENTS.index(agent))
    assert (table == before).all()
    assert table[0]["legal"][move]
    return move_text(move)


def moves_of(agents: Sequence[str], hand: str, **position: Any) -> set[str]:
    return {move_of(agent, table_of(hand, **position)) for agent in agents}


def test_all_win_whenever_they_can() -> None:
    assert moves_of(AGENTS, "123456789m11222p") == {"win"}
    assert moves_of(AGENTS, "123456789m1122p", claimed="1p") == {"win"}
    assert moves_of(AGENTS, "1111335577m22p44s") == {"win"}


@pytest.mark.parametrize(
    ("hand", "melds", "move"),
    [
        ("1111m2345p678999s", (), "kong 1m"),
        ("1111m5555s23459p2s", (), "kong 5s"),  # bamboo comes first
        ("234m6789s334s1p", ("111p",), "kong 1p"),
    ],
)
def test_own_kongs_are_declared(hand: str, melds: Sequence[str], move: str) -> None:
    assert moves_of(("robot", *LISTS), hand, melds=melds) == {move}


def test_a_tile_of_an_own_pung_that_was_not_drawn_is_kept() -> None:
    assert "kong 1p" not in moves_of(("robot", *LISTS), "1p234m6789s334s", melds=("111p",))


@pytest.mark.parametrize(
    ("hand", "move"), [("555m12p4689s124s2p", "kong 5m"), ("55m112p4689s124s3p", "pung"), ("5m1124p4689s1249s", "pass")]
)
def test_kongs_and_pungs_of_discards(hand: str, move: str) -> None:
    assert moves_of(("robot", *LISTS), hand, claimed="5m", is_next=False) == {move}


@pytest.mark.parametrize(
    ("hand", "chow"),
    [
        ("34679m147p258s12s", "chow 345m"),  # the lowest one is looked at
        ("33467m147p258s12s", "chow 345m"),
        ("33446m147p258s12s", "pass"),  # two pairs
        ("3334m147p2589s12s", "pass"),  # a triplet
        ("345m147p258s1249s", "chow 345m"),
        ("3345m147p258s124s", "pass"),  # two pairs with the claimed tile
    ],
)
def test_chows_of_ba(hand: str, chow: str) -> None:
    assert moves_of(("fanfou_ba",), hand, claimed="5m") == {chow}


@pytest.mark.parametrize(
    ("claimed", "hand", "chow"),
    [
        # no own tile of the kind: two pairs, two single tiles, a pair and a single tile
        ("5m", "3346m147p258s124s", "chow 456m"),  # the paper's example: the pair stays
        ("5m", "3446m1479p258s12s", "chow 345m"),
        ("5m", "3344m1479p258s12s", "chow 345m"),
        ("5m", "33467m147p258s12s", "chow 456m"),
        ("5m", "34467m147p258s12s", "chow 567m"),
        ("5m", "4466m147p258s124s", "pass"),  # two pairs around the tile,
        ("5m", "2344667m14p258s1s", "chow 456m"),  # with single tiles beside them,
        ("5m", "344667m147p258s1s", "chow 345m"),  # with too few of these
        ("5m", "3334m147p2589s12s", "pass"),
        ("7m", "5689m147p258s124s", "chow 789m"),
        ("7m", "566889m147p258s1s", "chow 789m"),
        ("8m", "679m147p258s1249s", "chow 789m"),
        ("1m", "2367m147p258s124s", "chow 123m"),
        # one: two pairs, a pair and a single tile, two single tiles
        ("5m", "44566m147p258s12s", "chow 456m"),
        ("5m", "34567m147p258s12s", "chow 345m"),
        ("5m", "345667m147p258s1s", "chow 456m"),
        ("7m", "56789m147p258s12s", "chow 789m"),
        ("7m", "566789m147p258s1s", "chow 567m"),
        # two
        ("5m", "34556m147p258s12s", "pass"),
    ],
)
def test_chows_of_op(claimed: str, hand: str, chow: str) -> None:
    table = table_of(hand, claimed=claimed)
    table["legal"][0, PUNG] = 0
    assert {move_of(agent, table) for agent in ("robot", *OP)} == {chow}


@pytest.mark.parametrize(("shown", "move"), [("", "1s"), ("5m", "5m"), ("5m9m", "9m"), ("7p", "1s")])
def test_the_first_shown_tile_of_the_first_list_is_discarded(shown: str, move: str) -> None:
    assert moves_of(LISTS, "159s159m12345678p", shown=shown) == {move}  # the list: 1s 9s 1m 9m 5s 5m


def test_tiles_of_open_melds_were_shown() -> None:
    assert moves_of(LISTS, "159s159m12345p", melds=("567m",)) == {"5m"}


@pytest.mark.parametrize(("shown", "move"), [("", "3s"), ("8m", "6m"), ("5m", "6m"), ("6p", "4p")])
def test_one_of_two_neighbours_is_discarded_when_all_lists_are_empty(shown: str, move: str) -> None:
    assert moves_of(LISTS, "67m34s45p88999s", melds=("111p",), shown=shown) == {move}
    without_pairs: dict[str, Any] = {"hand": "67m3478s45p", "melds": ("111p", "999p"), "shown": shown}
    assert moves_of(("fanfou_ba",), **without_pairs) == {move}
    assert moves_of(OP, **without_pairs) == {"3s"}


@pytest.mark.parametrize(
    ("hand", "shown", "move"),
    [
        ("2233s55m88m345p", "8m", "8m"),  # a shown pair
        ("2233s55m88m345p", "", "3s"),  # a pair of 3 to 7 near another one
        ("99s55m99m22p789p", "", "9s"),  # the first pair
        ("8899s55m11m345p", "", "9s"),  # two pairs above a 7
    ],
)
def test_op_breaks_a_pair_when_all_lists_are_empty(hand: str, shown: str, move: str) -> None:
    assert moves_of(OP, hand, melds=("345p",), shown=shown) == {move}


@pytest.mark.parametrize(
    ("hand", "shown", "move"),
    [
        ("123456789m11p35s9s", "", "9s"),  # 4s completes the hand: four are left
        ("123456789m11p35s9s", "444s", "9s"),
        ("123456789m1p34s9s8p", "", "9s"),
        ("345678m11p345579s", "", "5s"),  # 8s or, for 9s, 6s: the first of equal ones
        ("345678m11p345579s", "8s", "9s"),
    ],
)
def test_op_keeps_the_most_winning_tiles(hand: str, shown: str, move: str) -> None:
    assert moves_of(OP, hand, shown=shown) == {move}


def test_ready_hands_are_declared_where_that_is_the_rule() -> None:
    hand = "123456789m11p35s9s"
    assert moves_of(LISTS, hand, declares=True) == {"ting 9s"}
    assert moves_of(OP, hand, declares=True, shown="444s") == {"9s"}  # one winning tile is left
    assert moves_of(("fanfou_ba",), hand, declares=True, shown="444s") == {"ting 9s"}
    table = table_of("123456789m1123p9s")
    table["phase"], table["legal"] = START, 0
    table["legal"][0, [PASS, DECLARE]] = 1
    assert {move_of(agent, table) for agent in ("robot", *LISTS)} == {"ting"}


@pytest.mark.parametrize(("shown", "move"), [("", "1s"), ("4s", "4s"), ("3m2s9s", "2s")])
def test_op_collects_seven_pairs(shown: str, move: str) -> None:
    assert moves_of(OP, "1133m5577p99s1246s", shown=shown) == {move}


def test_op_claims_nothing_for_seven_pairs() -> None:
    for claimed in ("1m", "3s"):
        assert moves_of(("robot", *OP), "1133m5577p99s124s", claimed=claimed) == {"pass"}
    assert moves_of(("fanfou_ba",), "1133m5577p99s124s", claimed="1m") == {"pung"}


def test_op_discards_single_tiles_for_four_pungs() -> None:
    position: dict[str, Any] = {
        "hand": "222p333s9m6s",
        "melds": ("111p", "999p"),
        "shown": "66s99m",
    }  # no wait has two tiles left
    assert moves_of(OP, **position) == {"6s"}
    assert moves_of(("fanfou_ba",), **position) == {"9m"}
    assert moves_of(OP, "222p333s9m6s", melds=("123p", "999p"), shown="66s99m") == {"9m"}


@pytest.mark.parametrize(
    ("hand", "shown", "move"),
    [
        ("12345678m11p3579s", "", "3s"),  # 3s and 9s leave as many tiles that help
        ("12345678m11p3579s", "88s", "9s"),
        ("12345678m11p3579s", "44s", "3s"),
        ("1133m5577p99s1246s", "1s2s4s", "1s"),  # seven pairs: 6s has three
    ],
)
def test_ukeire_keeps_the_most_tiles_that_lower_the_shanten(hand: str, shown: str, move: str) -> None:
    assert moves_of(("ukeire",), hand, shown=shown) == {move}


@pytest.mark.parametrize(
    ("hand", "move"),
    [
        ("46m123456p789s24s", "chow 456m"),
        ("33467m147p258s12s", "pass"),  # a chow that leaves the shanten
        ("55m123456p7899s4s", "pung"),
        ("55667m123p147s25s", "pung"),  # leaves it, but is paid
        ("1133m5577p99s124s", "pass"),  # would raise it
        ("555m12p4689s124s2p", "kong 5m"),
    ],
)
def test_ukeire_claims_what_lowers_the_shanten_and_what_is_paid(hand: str, move: str) -> None:
    assert moves_of(("ukeire",), hand, claimed="1m" if hand.startswith("1133m") else "5m") == {move}


def test_ukeire_declares_a_ready_hand() -> None:
    assert moves_of(("ukeire",), "123456789m11p35s9s", declares=True) == {"ting 9s"}
    assert moves_of(("ukeire",), "234m6789s334s1p", melds=("111p",)) == {"kong 1p"}


def test_a_frozen_hand_discards_what_it_draws() -> None:
    table = table_of("123456789m11p35s9p")
    table["ready"][0, 1] = 1
    assert {move_of(agent, table) for agent in ("robot", *LISTS)} == {"9p"}


def test_the_robot_discards_a_tile_at_random_that_follows_from_seed_and_decision() -> None:
    table = table_of("1123456789m9p357s")
    seen = Counter[str]()
    for seed in range(280):
        table["seed"] = seed
        move = move_of("robot", table)
        assert move == move_of("robot", table)
        seen[move] += 1
    assert len(seen) == 13
    assert 20 < seen["1m"] < 70  # two of 14 tiles


@pytest.mark.parametrize("hand", ["159s159m12345678p", "19s14m12345p22344s"])
@pytest.mark.parametrize("agent", MC)
def test_mc_discards_what_wins_the_fewest_sampled_hands(hand: str, agent: str) -> None:
    lists = [kinds for kinds in lists_of(counts_of(hand)) if kinds]
    candidates = [kind for kinds in lists for kind in kinds] if agent == "fanfou_mc_programs" else lists[0]
    shown = "1s8888m99m"
    met = set()
    for seed in range(40):
        table = table_of(hand, shown=shown, ready=(0, 3))
        table["seed"] = seed
        tools: Any = load_tools()
        count_wins(table[0], SUITS, tools, 1, 10)
        move = move_of(agent, table)
        assert move == kind_name(min(candidates, key=lambda kind: int(tools["wins"][kind])))
        met.add(move)
    assert len(met) > 1
    assert len(moves_of((agent, "fanfou_op"), hand, shown=shown)) == 1  # nobody is ready


def test_mc_chooses_among_what_op_would_discard_when_all_lists_are_empty() -> None:
    hand = "67m34s45p88999s"
    assert not any(lists_of(counts_of(hand)))
    met = set()
    for seed in range(40):
        table = table_of(hand, melds=("111p",), ready=(0, 2, 3))
        table["seed"] = seed
        met |= {move_of(agent, table) for agent in MC}
    assert met == {"3s", "6m", "4p"}


def tiles_of(hand: I8) -> tuple[int, ...]:
    return tuple(np.repeat(np.arange(34), hand).tolist())


@pytest.mark.parametrize(
    ("unseen", "num_melds"),
    [
        ("1111m2233m445566p77s", 0),
        ("11112222333344m", 0),
        ("1112223334445559m", 0),
        ("11123334m567p99s", 2),
        ("1199m5p", 4),
    ],
)
def test_sampled_hands_are_all_ready_ones_each_as_likely(unseen: str, num_melds: int) -> None:
    kinds = parse_names(unseen, KINDS)
    ways, twice = Counter[tuple[int, ...]](), 0
    for chosen in combinations(kinds, 13 - 3 * num_melds):
        hand = np.bincount(chosen, minlength=34).astype(np.int8)
        if is_ready(SUITS, hand, num_melds):
            ways[tuple(sorted(chosen))] += 1
            is_pairs = num_melds == 0 and (hand // 2).sum() == 6
            twice += is_pairs and standard_shanten(SUITS, hand, 0) == 0
    tools: Any = load_tools()
    weigh_tenpai(tools.tenpai, tools.weights, counts_of(unseen).astype(np.int64), PAIRS_OF_PAIRS)
    assert count_tenpai(tools.tenpai, tools.weights, num_melds) == ways.total() + twice
    assert ways
    seen, state = Counter[tuple[int, ...]](), np.array([5])
    for _ in range(4000):
        assert draw_tenpai(tools.tenpai, SUITS, tools.weights, num_melds, tools.sample, state)
        seen[tiles_of(tools.sample)] += 1
    assert seen.keys() <= ways.keys()
    expected = np.array([4000 * number / ways.total() for number in ways.values()])
    found = np.array([seen[hand] for hand in ways])
    assert (np.abs(found - expected) < 5 * np.sqrt(expected) + 3).all()


def test_hands_of_melds_count_what_they_win_with() -> None:
    table = table_of("159s159m12345678p", ready=(2,))
    table["num_melds"][0, 2] = 4  # one concealed tile: it wins with its own kind
    tools: Any = load_tools()
    count_wins(table[0], SUITS, tools, 1, 3000)
    unseen = 4 - table["hand"][0, 1, :NUM_KINDS]
    assert tools["wins"].sum() == 3000
    assert np.abs(tools["wins"] / 3000 - unseen / unseen.sum()).max() < 0.02
