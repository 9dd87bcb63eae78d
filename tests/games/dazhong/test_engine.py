"""The rules of Dazhong, move by move: against a slow twin on random hands, and each rule on a hand made for it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from suphx.games.dazhong.engine import deal, hand_fan, start, step
from suphx.games.dazhong.table import (
    CHOW,
    ENDED,
    KONG,
    MOVES,
    NO_KIND,
    NUM_KINDS,
    PASS,
    TABLE,
    TING,
    WIN,
    Rules,
    move_text,
)
from suphx.games.mahjong.shanten import load_suits, standard_shanten
from suphx.games.mahjong.tile import CHI_MELD, PON_MELD, count_in_meld, kind_name, parse_names
from suphx.kernel.record import Records
from tests.games.dazhong.slow_dazhong import SlowHand

SUITS = load_suits()
KINDS = {kind_name(kind): kind for kind in range(NUM_KINDS)}
RULES = (Rules(), Rules(ting="paper", winners="first"), Rules(winners="first"))


def new_table(rules: Rules) -> Any:
    """Return an empty table: a numpy record, which kernels take as a ``Table``."""
    tables: Records = np.zeros(1, TABLE)
    tables["declares"], tables["several_winners"] = rules.ting == "declared", rules.winners == "all"
    return tables[0]


def choose(table: Any, rng: np.random.Generator) -> int:
    """Play towards a ready hand, with a third of the moves at random, so that all kinds of moves and ends are met."""
    legal = np.flatnonzero(table["legal"])
    if table["legal"][WIN] and rng.random() < 0.8:
        return WIN
    if rng.random() < 0.3:
        return int(rng.choice(legal))
    kongs = legal[(legal >= KONG) & (legal < CHOW)]
    if kongs.size:
        return int(kongs[0])
    if table["legal"][PASS]:
        return int(rng.choice(legal)) if rng.random() < 0.5 else PASS
    hand, num_melds = table["hand"][table["actor"]].copy(), int(table["num_melds"][table["actor"]])
    values = []
    for move in legal.tolist():
        hand[move % NUM_KINDS] -= 1
        values.append((standard_shanten(SUITS, hand, num_melds), move < TING, rng.random(), move))
        hand[move % NUM_KINDS] += 1
    return min(values)[-1]


def check_invariants(table: Any) -> None:
    assert table["fan"].sum() == 0
    wall = table["wall"][108 - int(table["wall_left"]) :] >> 2
    shown = np.zeros(34, np.int64)
    for seat in range(4):
        river = table["river"][seat, : table["num_discards"][seat]]
        assert (table["river"][seat, table["num_discards"][seat] :] == NO_KIND).all()
        np.add.at(shown, river, 1)
        for place in range(table["num_melds"][seat]):
            meld = int(table["meld_type"][seat, place]), int(table["meld_kind"][seat, place])
            shown += [count_in_meld(*meld, kind) for kind in range(34)]
    assert (shown == table["shown"]).all()
    tiles = shown + table["hand"].sum(axis=0) + np.bincount(wall, minlength=34)
    assert tiles.tolist() == [4] * NUM_KINDS + [0] * 7
    assert (table["hand"] >= 0).all()
    sizes = table["hand"].sum(axis=1) + 3 * table["num_melds"]
    assert sizes.sum() in (52, 53)


@pytest.mark.parametrize("rules", RULES)
def test_engine_and_twin_agree_move_by_move(rules: Rules) -> None:
    rng, met = np.random.default_rng(7), Counter[str]()
    for seed in range(60 if rules.ting == "paper" else 20):  # to look for what may be declared takes the twin long
        table = new_table(rules)
        deal(table, SUITS, seed)
        wall = [kind_name(int(tile) >> 2) for tile in table["wall"]]
        twin = SlowHand(wall, int(table["dealer"]), rules.ting, rules.winners == "all")
        while table["phase"] != ENDED:
            check_invariants(table)
            assert twin.seat == table["actor"]
            assert twin.legal == {move_text(int(move)) for move in np.flatnonzero(table["legal"])}
            move = choose(table, rng)
            met[move_text(move).partition(" ")[0]] += 1
            step(table, SUITS, move)
            twin.move(move_text(move))
            assert twin.fan == table["fan"].tolist()
            assert twin.ready == table["ready"].astype(bool).tolist()
        check_invariants(table)
        assert twin.seat is None
        assert {seat: int(fan) for seat, fan in enumerate(table["win_fan"]) if fan} == twin.wins
        assert twin.loser == (int(table["loser"]) if table["loser"] >= 0 else None)
        met[f"{len(twin.wins)} winners"] += 1
    assert met.keys() >= {"win", "kong", "chow", "pung", "pass", "0 winners", "1 winners"}


class Course:
    """A hand made for a test: hands of some seats, the draws that follow, and moves as text."""

    def __init__(self, hands: dict[int, str], draws: str = "", rules: Rules | None = None) -> None:
        """Seats without a hand get any other tiles; seat 0 is the dealer. The slow twin plays along."""
        own = {seat: parse_names(hand, KINDS) for seat, hand in hands.items()}
        assert all(len(hand) == 13 for hand in own.values())
        drawn = [KINDS[draws[i : i + 2]] for i in range(0, len(draws), 2)]
        given = [*drawn, *(kind for hand in own.values() for kind in hand)]
        left = np.repeat(np.arange(NUM_KINDS), 4 - np.bincount(given, minlength=NUM_KINDS))
        rest = iter(np.random.default_rng(1).permutation(left).tolist())
        dealt = [own.get(seat) or [next(rest) for _ in range(13)] for seat in range(4)]
        wall = np.array([*(kind for hand in dealt for kind in hand), *drawn, *rest])
        rules = rules or Rules()
        self.twin = SlowHand([kind_name(kind) for kind in wall.tolist()], 0, rules.ting, rules.winners == "all")
        self.table = new_table(rules)
        self.table["wall"][np.argsort(wall, kind="stable")] = np.arange(108)
        start(self.table, SUITS)

    def play(self, *moves: str) -> Course:
        """Play moves such as ``0 5m``; seats that are asked for another one in between pass."""
        for text in moves:
            seat, move = int(text[0]), MOVES[text[2:]]
            while self.table["legal"][PASS] and (self.table["actor"] != seat or not self.table["legal"][move]):
                self.step(PASS)
            assert self.table["actor"] == seat
            assert self.table["legal"][move], f"{text} is not legal: {self.legal()}"
            self.step(move)
            check_invariants(self.table)
        return self

    def step(self, move: int) -> None:
        step(self.table, SUITS, move)
        self.twin.move(move_text(move))
        assert self.twin.legal == self.legal()
        assert self.twin.seat == (None if self.table["phase"] == ENDED else self.table["actor"])
        assert self.twin.fan == self.fan
        assert self.twin.ready == self.table["ready"].astype(bool).tolist()
        assert self.twin.wins == {seat: int(fan) for seat, fan in enumerate(self.table["win_fan"]) if fan}

    def passes(self) -> Course:
        """Let everybody pass who can."""
        while self.table["legal"][PASS]:
            self.step(PASS)
        return self

    def legal(self) -> set[str]:
        return {move_text(int(move)) for move in np.flatnonzero(self.table["legal"])}

    @property
    def fan(self) -> list[int]:
        return [int(fan) for fan in self.table["fan"]]


DULL = "147m147p147s2689m"
"""Can chow, and pung nothing."""


@pytest.mark.parametrize(("discard", "fan"), [("2m", [-1, 1, 0, 0]), ("5m", [0, 0, 0, 0]), ("6m", [-1, 1, 0, 0])])
def test_a_chow_is_paid_unless_the_same_tile_is_discarded_next(discard: str, fan: list[int]) -> None:
    course = Course({0: DULL, 1: "23456m369p3699s8p"}, "5m").play("0 5m", "1 chow 345m")
    assert course.fan == [-1, 1, 0, 0]
    assert course.play(f"1 {discard}").fan == fan


def test_only_the_next_seat_may_chow() -> None:
    course = Course({0: DULL, 1: "1199m1199p1199s5p", 2: "23456m369p3699s8p"}, "5m").play("0 5m")
    assert course.passes().table["actor"] == 1
    assert course.table["turn"] == 1


def test_kongs_of_three_kinds_and_a_pung_are_paid() -> None:
    hands = {0: DULL, 2: "55m336699p11199s", 1: "112233p778899s1m"}
    assert Course(hands, "5m").play("0 5m", "2 pung").fan == [-2, 0, 2, 0]
    assert Course(hands | {2: "555m33669p11199s"}, "5m").play("0 5m", "2 kong 5m").fan == [-4, 0, 4, 0]
    at_once = Course(hands | {2: "555m33669p11199s"}, "5m").play("0 5m", "2 pung", "2 kong 5m")
    assert at_once.fan == [-4, 0, 4, 0]
    assert at_once.table["actor"] == 2
    assert at_once.table["drawn"] != NO_KIND
    later = Course(hands | {2: "555m33669p11199s"}, "5m9p9m9m").play("0 5m", "2 pung", "2 9p").passes()
    assert later.table["turn"] == 3
    concealed = Course({0: "555m147p147s2589p"}, "5m").play("0 kong 5m")
    assert concealed.fan == [9, -3, -3, -3]


def test_a_fourth_tile_that_comes_later_is_an_added_kong_which_can_be_robbed() -> None:
    hands = {0: DULL, 2: "55m336699p22299s", 3: "34m123789p123s99m"}
    draws, moves = "5m8p8s7s5m", ("0 5m", "2 pung", "2 3p", "3 8p", "0 8s", "1 7s")
    course = Course(hands, draws).play(*moves)
    assert "kong 5m" in course.legal()
    before = course.fan
    course.play("2 kong 5m")
    assert course.legal() == {"win", "pass"}
    robbed = Course(hands, draws).play(*moves, "2 kong 5m", "3 win")
    assert (np.array(robbed.fan) - before).tolist() == [0, 0, -6, 6]
    assert robbed.table["loser"] == 2
    course.step(PASS)
    assert (np.array(course.fan) - before).tolist() == [-1, -1, 3, -1]
    assert course.table["turn"] == course.table["actor"] == 2


def test_ting_is_paid_by_three_and_freezes_the_hand() -> None:
    hands = {0: "123456789m11p34s", 1: DULL}
    course = Course(hands, "9p9p9p9p1p").play("0 ting 9p")
    assert course.fan == [3, -1, -1, -1]
    assert course.table["ready"].tolist() == [1, 0, 0, 0]
    course.passes().play("1 9p").passes().play("2 9p").passes().play("3 9p").passes()
    assert course.legal() == {"1p"}
    frozen = Course(hands, "9p1p").play("0 ting 9p").passes().play("1 1p").passes()
    assert frozen.table["turn"] == 2


def test_a_declared_hand_may_kong_only_if_its_waits_stay() -> None:
    keeping = {0: "111p234m567m99s34s"}
    assert "kong 1p" in Course(keeping, "9p9p9p9p1p").play("0 ting 9p", "1 9p", "2 9p", "3 9p").passes().legal()
    changing = {0: "1112p234m567m999s"}  # 1112p waits for 2p and 3p, beside a kong for 2p alone
    course = Course(changing, "9p9p9p9p1p").play("0 ting 9p", "1 9p", "2 9p", "3 9p").passes()
    assert course.legal() == {"1p"}
    paper = Course(changing, "9p9p9p9p1p", Rules(ting="paper")).play("0 9p", "1 9p", "2 9p", "3 9p").passes()
    assert paper.legal() == {"1p", "kong 1p"}


def test_who_is_ready_after_the_deal_may_declare_before_the_first_draw() -> None:
    hands = {0: DULL, 2: "123456789m11p34s"}
    course = Course(hands)
    assert (course.table["actor"], course.legal()) == (2, {"ting", "pass"})
    assert course.play("2 ting").fan == [-1, -1, 3, -1]
    assert course.table["actor"] == 0
    assert Course(hands, rules=Rules(ting="paper")).table["actor"] == 0


def test_in_the_paper_who_is_ready_is_marked_before_each_draw_and_paid_nothing() -> None:
    course = Course({0: "123456789m11p34s", 1: DULL}, "9p", Rules(ting="paper"))
    assert course.table["ready"].tolist() == [1, 0, 0, 0]
    assert course.legal() == {"9p"}
    assert course.fan == [0] * 4


@pytest.mark.parametrize(("rules", "fan"), [(Rules(), [-18, 6, 12, 0]), (Rules(winners="first"), [-6, 6, 0, 0])])
def test_all_who_want_a_discard_win_or_only_the_first_one(rules: Rules, fan: list[int]) -> None:
    hands = {0: DULL, 1: "34m123789p123s99m", 2: "112233p44s66s77s5m"}
    course = Course(hands, "5m", rules).play("0 5m", "1 win", "2 win")
    assert course.table["phase"] == ENDED
    assert course.fan == fan


def test_a_pung_goes_before_a_chow_and_a_win_before_both() -> None:
    hands = {0: DULL, 1: "346m369p3699s258p", 2: "55m336699p22299s", 3: "34m123789p123s99m"}
    assert Course(hands, "5m").play("0 5m", "1 chow 345m", "2 pung").passes().table["turn"] == 2
    won = Course(hands, "5m").play("0 5m", "1 chow 345m", "2 pung", "3 win")
    assert won.table["win_fan"].tolist() == [0, 0, 0, 6]
    assert won.table["num_melds"].tolist() == [0] * 4


@pytest.mark.parametrize(
    ("concealed", "melds", "fan"),
    [
        ("123m456p789s11122p", "", 6),
        ("111m222p333s44455p", "", 8),
        ("111m222p55p", "333s 444s", 8),
        ("111m222p55p", "333s 456s", 6),
        ("123456789m11122m", "", 12),
        ("123m11122m", "456m 789m", 12),
        ("123m11122m", "456m 789p", 6),
        ("1122m3344p556677s", "", 12),
        ("1111m2222p334455s", "", 12),
        ("112233m445566p77s", "", 12),
    ],
)
def test_only_the_highest_value_of_a_hand_counts(concealed: str, melds: str, fan: int) -> None:
    hand = np.bincount(parse_names(concealed, KINDS), minlength=34).astype(np.int8)
    kinds = [parse_names(meld, KINDS) for meld in melds.split()]
    types = np.array([CHI_MELD if len(set(meld)) > 1 else PON_MELD for meld in kinds] + [0] * 4, np.int8)
    lowest = np.array([min(meld) for meld in kinds] + [0] * 4, np.int8)
    assert hand_fan(hand, len(kinds), types, lowest) == fan


def test_without_tiles_to_draw_there_is_no_kong_and_the_hand_is_drawn() -> None:
    course = Course({0: DULL, 1: "555m33669p11199s"}, "5m")
    course.table["wall_left"] = 0
    course.twin.wall.clear()
    course.step(MOVES["5m"])
    assert course.legal() == {"pung", "pass"}
    course.passes()
    assert (course.table["phase"], course.table["win_kind"], course.fan) == (ENDED, NO_KIND, [0] * 4)
