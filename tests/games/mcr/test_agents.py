"""The shanten of all forms of hands; the agent fan_plan: what it keeps and claims, and how its games end."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.games.mcr import fan_table as fan
from suphx.games.mcr.agents import FAN_PLAN, best_shanten, choose_scripted
from suphx.games.mcr.record import winning_fans
from suphx.games.mcr.table import KIND_OF_NAME, NO_SEAT, Rules, move_text
from suphx.games.mcr.tables import McrTables, ScriptedAgent, play_scripted
from suphx.kernel.record import Records
from tests.games.mcr.course import SUITS, Course, kinds
from tests.games.mcr.plain_run import given_tables, run_plain


@pytest.mark.parametrize(
    ("text", "num_melds", "shanten"),
    [
        ("W123 T456 B789 F11 J12", 0, 1),
        ("W123 T456 B789 F11 J22", 0, 0),
        ("W1199 T2255 B3366 F1", 0, 0),
        ("W1111 T2255 B3366 F1", 0, 0),
        ("W19 T19 B19 F1234 J123", 0, 0),
        ("W147 B258 T369 F1234", 0, 0),
        ("W147 B258 T369 F1234 J1", 0, -1),
        ("W147 B25 T36 F1234 J123", 0, -1),
        ("W147 B258 T369 W11 B12", 0, 0),
        ("W147 B258 T369 W11 B123", 0, -1),
        ("W147 B258 T369 F1", 1, 0),
        ("W147 B258 T36 F11", 1, 0),
        ("W14 B258 T36", 2, 4),
    ],
)
def test_shanten_is_over_all_forms_of_hands(text: str, num_melds: int, shanten: int) -> None:
    assert best_shanten(SUITS, np.bincount(kinds(text), minlength=34).astype(np.int8), num_melds) == shanten


def choice(table: Any) -> str:
    """Return the move of fan_plan."""
    return move_text(choose_scripted(table, SUITS, FAN_PLAN))


@pytest.mark.parametrize(
    ("hand", "draw", "discards"),
    [
        ("W123 T45 B789 W55 F1 B33", "T6", "F1"),  # mixed straight
        ("W12 T234 B345 W66 J1 T78", "J3", "J1 J3"),  # mixed shifted chows
        ("W123 W456 W78 F11 T4 B56", "J1", "T4 J1"),  # pure straight
        ("W12345677 F11 J2 T5", "W9", "T5 J2"),  # half flush
        ("W222 T55 B77 F11 W99 T3 B4", "W9", "T3 B4"),  # all pungs or seven pairs
        ("W1199 T2255 B3366 F1", "T9", "T9 F1"),  # seven pairs
        ("W147 B258 T3 F1234 J1 B9", "J2", "B9"),  # knitted tiles and honours
        ("W147 B258 T36 W234 J1 F1", "J1", "F1"),  # knitted straight
        ("W678 T789 B67 B99 W99 B1", "T6", "B1"),  # upper four
        ("W123 T12 B78 F11 J22 W78", "W5", "W5"),  # outside hand
        ("W345 T34 B456 F11 J22 W9", "W8", "W8 W9"),  # all types
    ],
)
def test_a_tile_that_the_plan_does_not_need_is_discarded(hand: str, draw: str, discards: str) -> None:
    assert choice(Course({0: hand}, {0: draw}).table) in discards.split()


@pytest.mark.parametrize("gone", ["F1", "J1"])
def test_a_plan_whose_tile_is_gone_is_dropped(gone: str) -> None:
    table = Course({0: "W1199 T2255 B3366 F1"}, {0: "J1"}).table
    table["shown"][KIND_OF_NAME[gone]] = 3
    assert choice(table) == gone


@pytest.mark.parametrize(
    ("hand", "discard", "moves"),
    [
        ("W123 T456 B78 F11 W68 J1", "B9", "chow B8"),  # the mixed straight is complete and needs no concealed hand
        ("W123 T456 B78 F11 W68 J1", "W7", "pass chow W7"),
        ("W147 B258 T36 W34 J11 F1", "W5", "chow W4"),  # beside a knitted straight
        ("W147 B258 T3 F1234 J1 W3", "W2", "pass"),  # knitted tiles and honours have no meld
        ("W1199 T2255 B3366 F1", "T2", "pass"),  # nor have seven pairs
        ("W222 T55 B77 F11 W99 T3 B4", "B7", "pung B7"),  # all pungs, with pungs of honours
        ("W13 T58 B269 F1234 J12", "W2", "pass"),  # nothing near
        ("W234 T345 B45 W56 T77 B8", "W7", "chow W6"),  # mixed shifted chows and All Chows
        ("W234 T345 B45 W56 F11 B8", "W7", "pass"),  # without All Chows the hand has to be concealed
    ],
)
def test_a_tile_is_claimed_only_for_a_plan_of_eight_fan(hand: str, discard: str, moves: str) -> None:
    course = Course({1: hand}, {0: discard}).play(f"0 {discard}")
    while course.table["actor"] != 1:
        course.play(f"{course.table['actor']} pass")
    assert choice(course.table) in moves


def test_a_win_comes_first() -> None:
    assert choice(Course({0: "W123 T456 B789 F11 W68"}, {0: "W7"}).table) == "win"


@pytest.mark.parametrize(("hand", "move"), [("W2222 T555 B777 F11 W9", "kong W2"), ("W122223 T456 B78 F11", "J1")])
def test_a_kong_is_declared_if_it_costs_little(hand: str, move: str) -> None:
    assert choice(Course({0: hand}, {0: "J1"}).table) == move


@pytest.fixture(scope="module")
def played() -> tuple[Records, Records]:
    """Return the ends of 120 games, and positions of eight."""
    tables, player = McrTables(120, Rules()), ScriptedAgent("fan_plan")
    tables.begin(np.arange(120), range(9000, 9120))
    met = []
    while (waiting := tables.waiting()).size:
        met.append(tables.state[waiting[waiting < 8]].copy())
        tables.advance(waiting, player.act(tables.state, waiting))
    return tables.state, np.concatenate(met)


def test_most_games_are_decided_by_many_fans(played: tuple[Records, Records]) -> None:
    ends = played[0]
    wins = ends[ends["winner"] != NO_SEAT]
    assert len(wins) >= 0.8 * len(ends)
    found = Counter(number for end in wins for number, _ in winning_fans(end))
    common = (fan.ALL_CHOWS, fan.MIXED_SHIFTED_CHOWS, fan.MIXED_STRAIGHT, fan.HALF_FLUSH, fan.DRAGON_PUNG)
    assert all(found[number] >= 0.02 * len(wins) for number in common)
    assert found[fan.MELDED_HAND] < 0.1 * len(wins)


def test_it_beats_the_agent_that_does_not_look_at_fans() -> None:
    for agents in (("fan_plan", "shanten"), ("shanten", "fan_plan")):
        scores = play_scripted(agents * 2, range(60), Rules())
        assert scores[:, agents.index("fan_plan") :: 2].sum() > 0


def test_plain_python_chooses_alike(played: tuple[Records, Records], tmp_path: Path) -> None:
    some = played[1][::60].copy()
    assert run_plain(__name__, some, tmp_path).split("\n")[:-1] == [choice(table) for table in some]


if __name__ == "__main__":
    for position in given_tables():
        print(choice(position))
