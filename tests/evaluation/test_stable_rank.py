from __future__ import annotations

import math
from typing import Any

import pytest

from suphx.evaluation.stable_rank import (
    GRADES,
    LENGTHS,
    ROOM_POINTS,
    TargetRewardConfig,
    placement_points,
    stable_rank,
)


@pytest.mark.parametrize(
    ("room", "dan", "points"),
    [("expert", 8, (75, 30, 0, -150)), ("phoenix", 7, (90, 45, 0, -135)), ("general", 1, (30, 15, 0, -45))],
)
def test_places_are_worth_what_tenhou_pays(room: str, dan: int, points: tuple[float, ...]) -> None:
    assert TargetRewardConfig(room=room, dan=dan).by_place() == points


def test_at_its_stable_rank_a_player_wins_and_loses_equal_points() -> None:
    counts = (300, 250, 250, 200)
    assert stable_rank(counts) == 8
    assert sum(n * p for n, p in zip(counts, TargetRewardConfig(dan=8).by_place(), strict=True)) == 0


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"points": (1.0, 2.0)}, "give four numbers"),
        ({"points": (1.0, 1.0, 1.0, 1.0)}, "not all equal"),
        ({"room": "attic"}, "room is 'attic'"),
        ({"dan": 11}, "dan is 11: use 1 to 10"),
    ],
)
def test_wrong_settings_are_refused(setting: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        TargetRewardConfig(**setting)  # type: ignore[arg-type]


# Shares of first to fourth places (table 5) and the stable ranks of table 4; the shares are rounded.
@pytest.mark.parametrize(
    ("shares", "rank"),
    [
        ((28.0, 26.2, 23.2, 22.4), 6.59),
        ((25.6, 27.2, 25.9, 21.1), 6.64),
        ((28.0, 26.8, 24.7, 20.5), 7.46),
        ((29.3, 27.5, 24.4, 18.7), 8.74),
    ],
    ids=["Bakuuchi", "NAGA", "top human", "Suphx"],
)
def test_the_papers_players_have_the_papers_ranks(shares: Any, rank: float) -> None:
    assert stable_rank(shares) == pytest.approx(rank, abs=0.04)


def test_the_games_of_suphx_give_their_known_rank() -> None:
    assert stable_rank([769, 810, 737, 514]) == pytest.approx(8.632, abs=0.0005)


@pytest.mark.parametrize(("room", "first", "second"), [("advanced", 4, 1), ("expert", 5, 2), ("phoenix", 6, 3)])
def test_each_room_has_its_formula(room: str, first: int, second: int) -> None:
    assert stable_rank([7, 5, 3, 4], room) == pytest.approx((first * 7 + second * 5) / 4 - 2)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("room", ROOM_POINTS)
def test_at_the_stable_rank_points_are_won_and_lost_alike(room: str, length: str) -> None:
    counts = {"general": (3, 3, 1, 3), "advanced": (3, 4, 1, 4), "expert": (3, 3, 1, 3), "phoenix": (2, 2, 4, 3)}[room]
    rank = stable_rank(counts, room, length)
    assert rank == int(rank)
    grade = 9 + int(rank)
    points = [placement_points(place, grade, room, length) for place in range(1, 5)]
    assert sum(c * p for c, p in zip(counts, points, strict=True)) == 0


def test_points_are_those_of_table_6_with_each_length_on_its_own() -> None:
    assert [placement_points(place, 19) for place in range(1, 5)] == [75, 30, 0, -180]
    assert [placement_points(place, 19, length="tonpuu") for place in range(1, 5)] == [50, 20, 0, -120]
    assert [placement_points(place, 8, "general") for place in range(1, 5)] == [30, 15, 0, -15]
    assert [GRADES[i].fourth for i in (0, 7, 8, 9, 10, 13, 19)] == [0, 0, 15, 30, 45, 90, 180]
    assert [(GRADES[i].name, GRADES[i].start, GRADES[i].rise) for i in (10, 19)] == [
        ("1 dan", 200, 400),
        ("10 dan", 2000, 4000),
    ]


def test_without_fourth_places_the_rank_is_infinite_or_undefined() -> None:
    assert stable_rank([1, 0, 0, 0]) == math.inf
    assert math.isnan(stable_rank([0, 0, 3, 0]))
