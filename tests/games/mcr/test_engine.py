"""The rules of MCR, move by move: against a slow twin on random games, and each rule on a game made for it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from suphx.games.mahjong.shanten import standard_shanten
from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, MINKAN_MELD, PON_MELD, count_in_meld
from suphx.games.mcr.engine import deal, punish, step
from suphx.games.mcr.fans import KONG as KONG_TILE
from suphx.games.mcr.fans import LAST_OF_KIND, LAST_TILE, NUM_FANS, SELF_DRAWN, count_fans
from suphx.games.mcr.table import (
    CHOW,
    ENDED,
    KIND_NAMES,
    KIND_OF_NAME,
    KONG,
    MOVES,
    NO_KIND,
    NO_SEAT,
    OWN_TURN,
    PASS,
    ROB,
    WALL_TILES,
    WIN,
    Rules,
    move_text,
)
from tests.games.mcr.course import SUITS, Course, new_table
from tests.games.mcr.slow_mcr import TILES, SlowGame

BITS = {"self-drawn": SELF_DRAWN, "last": LAST_TILE, "kong": KONG_TILE, "last of kind": LAST_OF_KIND}


def walls_of(table: Any) -> list[list[str]]:
    """Return the tiles of each seat in the order in which it takes them."""
    kinds = (table["wall"] >> 2).tolist()
    return [[KIND_NAMES[kind] for kind in kinds[WALL_TILES * s : WALL_TILES * (s + 1)][::-1]] for s in range(4)]


def worth_at(wind: int) -> Any:
    """Return the ``Worth`` of a game with a round wind, by the fan calculator."""

    def worth(seat: int, hand: list[str], melds: list[tuple[str, ...]], tile: str, how: set[str]) -> int:
        counts = np.zeros(34, np.int8)
        for each in (*hand, tile):
            counts[KIND_OF_NAME[each]] += 1
        types, kinds = np.zeros(4, np.int8), np.zeros(4, np.int8)
        for place, (what, first, *rest) in enumerate(melds):
            kong = ANKAN_MELD if what == "closed" else MINKAN_MELD
            types[place] = CHI_MELD if first != rest[0] else (PON_MELD if len(rest) == 2 else kong)
            kinds[place] = KIND_OF_NAME[first]
        bits = sum(BITS[word] for word in how)
        win, found = KIND_OF_NAME[tile], np.zeros(NUM_FANS + 1, np.int8)
        return int(count_fans(SUITS, counts, types, kinds, len(melds), win, bits, wind, seat, 0, found))

    return worth


def choose(table: Any, rng: np.random.Generator) -> int:
    """Play towards a ready hand, with some moves at random, so that all kinds of moves and ends are met."""
    legal = np.flatnonzero(table["legal"])
    if table["legal"][WIN] and rng.random() < 0.8:
        return WIN
    if rng.random() < 0.2:
        return int(rng.choice(legal))
    kongs = legal[(legal >= KONG) & (legal < CHOW)]
    if kongs.size:
        return int(kongs[0])
    if table["legal"][PASS]:
        return int(rng.choice(legal)) if rng.random() < 0.5 else PASS
    hand, num_melds = table["hand"][table["actor"]].copy(), int(table["num_melds"][table["actor"]])
    values = []
    for move in legal[legal < KONG].tolist():
        hand[move] -= 1
        values.append((standard_shanten(SUITS, hand, num_melds), rng.random(), move))
        hand[move] += 1
    return int(min(values)[-1])


def check_invariants(table: Any) -> None:
    assert table["score"].sum() == 0
    left = np.zeros(34, np.int64)
    shown = np.zeros(34, np.int64)
    concealed = np.zeros(34, np.int64)
    for seat in range(4):
        own = table["wall"][WALL_TILES * seat :][: table["wall_left"][seat]] >> 2
        left += np.bincount(own, minlength=34)
        number = table["num_discards"][seat]
        assert (table["river"][seat, number:] == NO_KIND).all()
        np.add.at(shown, table["river"][seat, :number][table["is_taken"][seat, :number] == 0], 1)
        for place in range(table["num_melds"][seat]):
            meld = int(table["meld_type"][seat, place]), int(table["meld_kind"][seat, place])
            tiles = np.array([count_in_meld(*meld, kind) for kind in range(34)])
            if meld[0] == ANKAN_MELD:
                concealed += tiles
            else:
                shown += tiles
    is_discard = table["claimed"] != NO_KIND and table["drawn"] == NO_KIND
    visible = table["shown"].astype(np.int64)
    if is_discard:
        visible[table["claimed"]] += 1
    assert (shown == visible).all()
    assert (shown + concealed + left + table["hand"].sum(axis=0) == 4).all()
    assert (table["hand"] >= 0).all()
    sizes = table["hand"].sum(axis=1) + 3 * table["num_melds"]
    assert sizes.sum() in (52, 53)


@pytest.mark.parametrize("minimum", [1, 8])
def test_engine_and_twin_agree_move_by_move(minimum: int) -> None:
    rng, met = np.random.default_rng(7), Counter[str]()
    table = new_table(minimum)
    for seed in range(40):
        deal(table, SUITS, seed)
        twin = SlowGame(walls_of(table), worth_at(int(table["round_wind"])), minimum)
        while table["phase"] != ENDED:
            check_invariants(table)
            assert twin.seat == table["actor"]
            assert twin.legal == {move_text(int(move)) for move in np.flatnonzero(table["legal"])}
            move = choose(table, rng)
            met[move_text(move).partition(" ")[0]] += 1
            step(table, SUITS, move)
            twin.move(move_text(move))
            assert [len(wall) for wall in twin.walls] == table["wall_left"].tolist()
        check_invariants(table)
        assert twin.seat is None
        assert twin.scores == table["score"].tolist()
        assert twin.winner == (None if table["winner"] == NO_SEAT else table["winner"])
        met["self-drawn"] += table["winner"] != NO_SEAT and table["loser"] == NO_SEAT
        met["draws"] += table["winner"] == NO_SEAT
    assert all(met[word] for word in ("kong", "pung", "chow", "pass", "draws"))
    assert minimum == 8 or (met["win"] > 5 and met["self-drawn"])


def test_every_seat_is_dealt_its_own_wall_and_every_wind_comes() -> None:
    table, winds = new_table(), set()
    for seed in range(40):
        deal(table, SUITS, seed)
        assert sorted(table["wall"].tolist()) == list(range(136))
        assert table["wall_left"].tolist() == [20, 21, 21, 21]
        winds.add(int(table["round_wind"]))
    assert winds == {0, 1, 2, 3}


ORPHANS = "W19 T19 B19 F1234 J123"
PURE_STRAIGHT = "W123456789 B55 T34"
"""Waits for T2 and T5, 16 fan and more."""


def test_the_first_seat_after_the_discarder_wins_alone() -> None:
    course = Course({0: "T2 B1", 1: ORPHANS.replace("B19", "B99"), 3: "W123456789 B23 T55"}, {0: "F1"})
    course.play("0 B1")
    assert course.legal() >= {"win", "pass"}
    course.play("1 win", "3 win")
    table = course.table
    assert (table["winner"], table["loser"], table["phase"]) == (1, 0, ENDED)
    fan = int(table["win_fan"])
    assert fan >= 88
    assert table["score"].tolist() == [-8 - fan, 24 + fan, -8, -8]


def test_a_self_drawn_win_is_paid_by_all() -> None:
    table = Course({0: PURE_STRAIGHT}, {0: "T5"}).play("0 win").table
    fan = int(table["win_fan"])
    assert table["score"].tolist() == [24 + 3 * fan, -8 - fan, -8 - fan, -8 - fan]
    assert table["win_circumstances"] == SELF_DRAWN


def test_a_win_needs_eight_fan() -> None:
    hands = {1: "W234 T567 B234 B77 W78"}
    assert "win" not in Course(hands, {0: "W9"}).play("0 W9").legal()
    assert "win" in Course(hands, {0: "W9"}, minimum=1).play("0 W9").legal()


def test_after_a_pung_any_tile_is_discarded_and_nothing_else() -> None:
    hands = {2: "W1111 T234 B55 B789 F1"}
    course = Course(hands, {0: "B5"}).play("0 B5", "2 pung")
    assert course.table["phase"] == OWN_TURN
    assert course.table["drawn"] == NO_KIND
    assert course.legal() == {"W1", "T2", "T3", "T4", "B7", "B8", "B9", "F1"}
    same = Course({2: "W1111 T234 B555 B89 F1"}, {0: "B5"}).play("0 B5", "2 pung")
    assert "B5" in same.legal()
    assert same.table["wall_left"].tolist() == [20, 21, 21, 21]


def test_if_the_next_wall_is_empty_a_discard_can_only_win() -> None:
    hands = {1: "W34 T333", 2: PURE_STRAIGHT.replace("T34", "T55").replace("B55", "B34")}
    course = Course(hands, {0: "T3"})
    course.empty(1).play("0 T3")
    assert course.table["phase"] == ENDED
    assert course.table["winner"] == NO_SEAT
    assert course.table["score"].tolist() == [0] * 4
    won = Course(hands, {0: "B5"}).empty(1).play("0 B5", "2 win")
    assert won.table["win_circumstances"] == LAST_TILE
    elsewhere = Course(hands, {0: "T3"}).empty(0, 2, 3).play("0 T3")
    assert elsewhere.legal() >= {"kong T3", "pung", "pass"}


def test_the_last_tile_is_that_after_which_the_next_wall_is_empty() -> None:
    course = Course({1: PURE_STRAIGHT}, {1: "T5", 0: "F1"})
    course.empty(2).play("0 F1").passes().play("1 win")
    assert course.table["win_circumstances"] == SELF_DRAWN | LAST_TILE


def test_a_game_ends_when_a_seat_cannot_draw_though_others_can() -> None:
    course = Course({}).empty(1).discard()
    assert course.table["phase"] == ENDED
    assert course.table["wall_left"].tolist() == [20, 0, 21, 21]


def test_an_own_kong_needs_a_tile_in_the_own_and_in_the_next_wall() -> None:
    hands, draws = {1: "W1111 T234 B345 B99 F1"}, {0: "F2", 1: "F3"}
    assert "kong W1" in Course(hands, draws).play("0 F2").passes().legal()
    without_next = Course(hands, draws).empty(2).play("0 F2").passes()
    assert (without_next.table["actor"], "kong W1" in without_next.legal()) == (1, False)
    course = Course(hands, draws)
    course.table["wall_left"][1] = 1
    course.table["wall"][WALL_TILES] = 4 * KIND_OF_NAME["F3"]
    assert "kong W1" not in course.play("0 F2").passes().legal()


def test_a_concealed_kong_is_hidden_cannot_be_robbed_and_is_replaced() -> None:
    hands = {0: "F1111 W123456 T34 B9", 1: ORPHANS.replace("F1234", "F2234")}
    course = Course(hands, {0: "W8 W9"}).play("0 kong F1")
    assert course.table["actor"] == course.table["turn"] == 0
    assert course.table["shown"].sum() == 0
    assert course.table["after_kong"]
    assert course.table["wall_left"].tolist() == [19, 21, 21, 21]


def test_an_added_kong_may_be_robbed_and_its_owner_pays() -> None:
    hands = {0: "T5 F3", 1: "T55 W1 F4", 2: "T34 W123456789 B55"}
    course = Course(hands, {0: "F1", 1: "T5"}).play("0 T5", "1 pung", "2 pass", "1 F4")
    course.passes().discard().discard().play("0 F3").passes().play("1 kong T5")
    assert course.table["phase"] == ROB
    assert course.legal() == {"win", "pass"}
    again = course.table.copy()
    course.play("2 win")
    table = course.table
    fan = int(table["win_fan"])
    assert table["win_circumstances"] == KONG_TILE
    assert table["score"].tolist() == [-8, -8 - fan, 24 + fan, -8]
    step(again, SUITS, PASS)
    assert (again["actor"], again["after_kong"], again["wall_left"][1]) == (1, 1, 19)


def test_a_claimed_kong_with_an_empty_own_wall_ends_the_game() -> None:
    course = Course({2: "T333"}, {0: "T3"}).empty(2).play("0 T3", "2 kong T3").passes()
    assert (course.table["phase"], course.table["winner"]) == (ENDED, NO_SEAT)


def test_a_win_after_a_kong_has_that_circumstance_and_a_discard_ends_it() -> None:
    hands = {0: "F1111 W123456 T34 B9"}
    course = Course({0: "F1111 W123456 W89 B9"}, {0: "B9 W7"}, minimum=1).play("0 kong F1", "0 win")
    assert course.table["win_circumstances"] == SELF_DRAWN | KONG_TILE
    later = Course(hands, {0: "F2 F3", 1: "F4"}).play("0 kong F1", "0 F3").passes()
    assert not later.table["after_kong"]


def test_the_last_of_its_kind_counts_what_all_see() -> None:
    course = Course({0: "T2", 2: PURE_STRAIGHT}, {0: "F1"})
    course.table["shown"][KIND_OF_NAME["T2"]] = 3
    assert course.play("0 T2", "2 win").table["win_circumstances"] == LAST_OF_KIND


def test_a_concealed_kong_and_the_discard_itself_are_not_seen() -> None:
    table = Course({0: "F1111"}, {0: "F2"}).play("0 kong F1").table
    assert table["shown"].sum() == 0
    punged = Course({2: "B55"}, {0: "B5"}).play("0 B5", "2 pung").table
    assert punged["shown"][KIND_OF_NAME["B5"]] == 3
    assert punged["is_taken"].sum() == 1


def test_a_pung_goes_before_a_chow_and_a_win_before_both() -> None:
    hands = {1: "W46 T1", 2: "W55 T9", 3: "W34 T123456789 B55"}
    draws = {0: "W5"}
    assert Course(hands, draws).play("0 W5", "1 chow W5", "2 pung", "3 pass").table["turn"] == 2
    assert Course(hands, draws).play("0 W5", "1 chow W5", "2 pass", "3 pass").table["turn"] == 1
    assert Course(hands, draws).play("0 W5", "1 chow W5", "2 pung", "3 win").table["winner"] == 3


def test_only_the_next_seat_chows() -> None:
    hands = {1: "W3467 T1", 2: "W46"}
    course = Course(hands, {0: "W5"}).play("0 W5")
    assert course.legal() == {"chow W4", "chow W5", "chow W6", "pass"}
    course.play("1 pass")
    assert course.table["turn"] == 1


def test_an_error_costs_thirty() -> None:
    table = Course({}).table
    punish(table, 2)
    assert (table["phase"], table["offender"], table["score"].tolist()) == (ENDED, 2, [10, 10, -30, 10])
    assert not table["legal"].any()


def test_names_of_tiles_and_moves() -> None:
    assert set(KIND_NAMES) == set(TILES)
    assert [KIND_NAMES[kind] for kind in (0, 9, 18, 27, 30, 31, 32, 33)] == [
        *("W1", "B1", "T1", "F1", "F4", "J3", "J2", "J1")
    ]
    assert len(MOVES) == 98 - 6
    assert all(move_text(move) == text for text, move in MOVES.items())
    assert (move_text(CHOW), move_text(CHOW + 18 + 6)) == ("chow W2", "chow T8")
    with pytest.raises(ValueError, match="minimum_fan is 99"):
        Rules(minimum_fan=99)
