from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations_with_replacement, islice
from pathlib import Path

import numpy as np
import pytest

from suphx.games.mahjong.planes import unpack_planes
from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.features.paper import encode
from suphx.games.riichi.features.paper_layout import CHANCE_BORDERS, CLAIM, MAX_CHANGED, PUBLIC
from suphx.games.riichi.features.suit_targets import (
    DOUBLES_SHIFT,
    GROUP_PAIR,
    GROUP_SET,
    MAX_STATES,
    NUM_GROUPS,
    PAIR_SHIFT,
    RUNS_SHIFT,
    SETS_SHIFT,
    TABLE_TILES,
    expand_suit,
    load_lookup,
    load_suit_targets,
    rank_suit,
)
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.table import PON
from suphx.games.riichi.tile import parse_kinds
from suphx.kernel.record import I8, I64, U8, Records
from tests.games.riichi.builders.games import random_game
from tests.games.riichi.builders.hands import kind, table_with
from tests.games.riichi.features.builders.positions import near_win_tables, positions, put_into_river
from tests.games.riichi.features.builders.random_tables import random_tables
from tests.games.riichi.features.win_chances import WinChances, look_ahead
from tests.games.riichi.twins.lookahead_twin import hand_at, lookahead_planes


def encoded(table: np.void, seat: int, action: int = -1) -> dict[str, U8]:
    """Return the look-ahead planes by name."""
    layout = PUBLIC if action < 0 else CLAIM
    row = np.zeros(layout.observation_bytes, np.uint8)
    encode(load_lookup(), table.view(np.recarray), seat, action, True, row)  # type: ignore[arg-type]
    planes = unpack_planes(row, layout.num_planes)
    return {part.name: planes[part.first : part.first + part.count] for part in layout.ranges if is_ours(part.name)}


def is_ours(name: str) -> bool:
    return "lookahead" in name


def differences(table: np.void, seat: int, action: int = -1) -> list[str]:
    """Return the names of the planes that the twin fills otherwise."""
    twin = lookahead_planes(hand_at(table, seat))
    if action >= 0:
        after = lookahead_planes(hand_at(table, seat, action))
        twin |= {name: planes for name, planes in after.items() if name.startswith("claim")}
    return [name for name, planes in encoded(table, seat, action).items() if not np.array_equal(planes, twin[name])]


def compare(games: Iterable[GameLog], num_positions: int, step: int) -> None:
    """Compare every ``step``-th position of games, with all its claims."""
    some = (position for game in games for position in positions(game))
    for position in islice(some, 0, num_positions * step, step):
        for action in [-1, *position.claims()]:
            assert differences(position.table, position.actor, action) == [], hand_at(position.table, position.actor)


def compare_tables(tables: Records) -> None:
    for table in tables:
        assert differences(table, int(table["actor"])) == [], hand_at(table, int(table["actor"]))


def test_positions_of_hasty_games_look_ahead_as_the_slow_twin_does() -> None:
    compare([random_game(seed) for seed in range(8)], 40, 55)


def test_odd_tables_look_ahead_as_the_slow_twin_does() -> None:
    compare_tables(random_tables(40, 1))


def test_hands_near_rare_wins_look_ahead_as_the_slow_twin_does() -> None:
    compare_tables(near_win_tables(36, 3))


def test_a_chance_exactly_on_its_border_reaches_it() -> None:
    table = table_with("123456789m1199p5s")  # giving up 5s it waits for two 1p and two 9p
    for tile in parse_kinds("222233334444555566667p"):
        put_into_river(table, 2, tile)
    assert differences(table, 1) == []
    # 136 - 14 - indicator - 21 discards = 100 unseen: 4 of them are 400 of 10,000
    is_reached = encoded(table, 1)["lookahead_chance"][: len(CHANCE_BORDERS[0]), parse_kinds("5s")[0]]
    assert is_reached.tolist() == [border <= 400 for border in CHANCE_BORDERS[0]]


@pytest.mark.slow
@pytest.mark.records
def test_real_positions_look_ahead_as_the_slow_twin_does(records: Path) -> None:
    compare(iter_records([records / "houou-hanchan-202205"], quarantine=Quarantine()), 3_000, 23)


@pytest.mark.slow
def test_thousands_of_odd_tables_look_ahead_as_the_slow_twin_does() -> None:
    compare_tables(random_tables(3_000, 2))


@pytest.mark.slow
def test_thousands_of_hands_near_rare_wins_look_ahead_as_the_slow_twin_does() -> None:
    compare_tables(near_win_tables(4_000, 4))


@dataclass(frozen=True)
class Targets:
    """Every choice of up to four sets and a pair of one suit."""

    counts: I8
    """int8 [n, kinds]."""
    words: list[int]
    groups: I64
    """int64 [n], with nothing missing."""


def all_targets(num_kinds: int) -> Targets:
    kinds = range(num_kinds)
    starts = range(7) if num_kinds == 9 else ()
    parts = [(1, kind) for kind in kinds] + [(0, start) for start in starts]
    found = {}
    for num_sets in range(5):
        for sets in combinations_with_replacement(range(len(parts)), num_sets):
            for pair in range(-1, num_kinds):
                counts = np.zeros(num_kinds, np.int8)
                runs: list[int] = []
                word = 0
                for index in sets:
                    is_triplet, kind = parts[index]
                    counts[kind : kind + 1 if is_triplet else kind + 3] += 3 if is_triplet else 1
                    if is_triplet:
                        word |= 1 << SETS_SHIFT + kind
                    else:
                        word |= 1 << (DOUBLES_SHIFT if kind in runs else RUNS_SHIFT) + kind
                        runs.append(kind)
                if pair >= 0:
                    counts[pair] += 2
                    word |= (pair + 1) << PAIR_SHIFT
                if counts.max() <= 4:
                    word |= sum(int(n) << 4 * kind for kind, n in enumerate(counts))
                    found[word] = (counts, GROUP_SET * num_sets + GROUP_PAIR * (pair >= 0))
    return Targets(
        np.array([counts for counts, _ in found.values()]),
        list(found),
        np.array([group for _, group in found.values()]),
    )


def near(counts: I8, targets: Targets, limits: list[int]) -> list[tuple[int, int]]:
    missing = np.maximum(targets.counts - counts, 0).sum(axis=1)
    given = np.maximum(counts - targets.counts, 0).sum(axis=1)
    most = np.minimum(MAX_CHANGED, np.array(limits)[targets.groups >> 2])
    is_near = np.flatnonzero((missing <= most) & (given <= MAX_CHANGED)).tolist()
    return sorted((targets.words[i], int(targets.groups[i] + missing[i])) for i in is_near)


def random_counts(rng: np.random.Generator, num_kinds: int, most: int) -> I8:
    tiles = rng.permutation(np.repeat(np.arange(num_kinds), 4))[: rng.integers(0, most + 1)]
    return np.bincount(tiles, minlength=num_kinds).astype(np.int8)


@pytest.fixture(scope="module", params=[9, 7])
def suit(request: pytest.FixtureRequest) -> tuple[int, Targets]:
    num_kinds: int = request.param
    return num_kinds, all_targets(num_kinds)


def test_the_search_finds_all_sets_and_pairs_within_the_limits(suit: tuple[int, Targets]) -> None:
    num_kinds, targets = suit
    rng = np.random.default_rng(5)
    states = np.empty((2, MAX_STATES, 2), np.int64)
    for number in range(60):
        counts = random_counts(rng, num_kinds, 14)
        limits = rng.integers(-1, 4, 10) if number % 2 else np.full(10, MAX_CHANGED)
        num_found = expand_suit(counts, limits.astype(np.int64), states)
        assert sorted((int(w), int(g)) for w, g in states[0, :num_found]) == near(counts, targets, limits.tolist())


def test_the_table_holds_the_same_in_groups(suit: tuple[int, Targets]) -> None:
    num_kinds, targets = suit
    rng = np.random.default_rng(6)
    table = load_suit_targets()
    for _ in range(60):
        counts = random_counts(rng, num_kinds, TABLE_TILES)
        hand = np.zeros(34, np.int8)
        hand[27 if num_kinds == 7 else 9 :][:num_kinds] = counts
        rank = rank_suit(table, hand, 3 if num_kinds == 7 else 1)
        ends = table.ends[rank].astype(int)
        words = table.words[table.near[table.first[rank] :][: ends[-1]]]
        groups = np.repeat(np.arange(NUM_GROUPS), np.diff(ends, prepend=0))
        found = sorted(zip(words.tolist(), groups.tolist(), strict=True))
        assert found == near(counts, targets, [MAX_CHANGED] * 10)


FAR = "147m258p19s123456z"


def chances(tiles: str, indicator: str = "9s", kyoku: int = 0, pon: str = "") -> WinChances:
    return look_ahead(table_with(tiles, indicator, kyoku, pon=pon), 1)


def test_a_straight_with_two_pairs_waits_for_four_tiles() -> None:
    seen = chances("123456789m1199p5s")
    of_5s = kind("5s")
    # riichi, tsumo, straight; 9p makes 30 fu, 4 han
    assert seen.points[of_5s, 0] == 7_700
    # without riichi by ron: straight alone, 40 fu
    assert seen.called_points[of_5s, 0] == 2_600
    # 136 - 14 - indicator = 121 unseen, of which two 1p and two 9p
    assert seen.chances[of_5s, 0] == pytest.approx(4 / 121)
    assert seen.points[kind("1m"), 0] == 0


def test_points_of_the_dealer_are_half_as_much_again() -> None:
    assert chances("123456789m1199p5s", kyoku=1).points[kind("5s"), 0] == 8_000  # 11,700


def test_dora_count_for_what_they_are_worth_in_the_hand_won() -> None:
    # three dora when the last tile is 9p
    assert chances("123456789m1199p5s", indicator="8p").points[kind("5s"), 0] == 12_000


def test_a_red_five_counts_while_it_stays_in_the_hand() -> None:
    table = table_with("123456789m1199p5s")
    table["red"][1] = 1
    assert look_ahead(table, 1).points[kind("5s"), 0] == 8_000
    table["red"][1] = 4
    assert look_ahead(table, 1).points[kind("5s"), 0] == 7_700


def test_without_riichi_a_hand_needs_a_yaku_of_its_own() -> None:
    of_7z = kind("7z")
    closed = chances("123m456789p11p23s7z", indicator="5z")
    assert (closed.points[of_7z, 0], closed.called_points[of_7z, 0]) == (2_600, 1_000)  # pinfu
    own_wind = chances("123m456p11p23s7z", indicator="5z", pon="2z")
    assert (own_wind.points[of_7z, 0], own_wind.called_points[of_7z, 0]) == (1_000, 1_000)
    none = chances("123m456p11p23s7z", indicator="5z", pon="4z")
    assert (none.points[of_7z, 0], none.called_points[of_7z, 0]) == (0, 0)


def test_nothing_is_in_reach_of_a_bad_hand() -> None:
    seen = chances(FAR)
    assert not seen.points[:, :2].any()


def test_without_a_discard_all_kinds_have_the_same_numbers() -> None:
    seen = chances("123456789m1199p")
    assert (seen.points == seen.points[0]).all()
    assert seen.chances[20, 0] == pytest.approx(4 / 122)


def test_a_claim_can_bring_the_hand_one_tile_from_a_win() -> None:
    table = table_with("123m456119p23s77z", indicator="5z")
    table["claimed_face"] = kind("7z")
    table["river"][0, 0], table["river_length"][0] = kind("7z"), 1
    now, after = look_ahead(table, 1), look_ahead(table, 1, PON)
    assert not now.points[:, 0].any()
    assert now.points[:, 1].all()
    assert np.flatnonzero(after.points[:, 0]).tolist() == [kind("9p")]
    assert after.points[kind("9p"), 0] == after.called_points[kind("9p"), 0] == 1_000
    # 1s and 4s: 136 - 13 - indicator - the claimed tile = 121 unseen
    assert after.chances[kind("9p"), 0] == pytest.approx(8 / 121)


def test_an_unknown_seat_is_an_error() -> None:
    with pytest.raises(ValueError, match="no seat 4: use 0 to 3"):
        look_ahead(table_with(FAR), 4)
