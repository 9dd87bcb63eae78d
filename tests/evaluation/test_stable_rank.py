from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from suphx.evaluation.stable_rank import LENGTHS, ROOM_POINTS, TargetRewardConfig, rank_terms, ranks_of


def stable_rank(counts: Any, room: str = "expert", length: str = "hanchan") -> float:
    return float(ranks_of(rank_terms(np.array([counts]), room, length))[0])


@pytest.mark.parametrize(
    ("room", "dan", "points"),
    [("expert", 8, (75, 30, 0, -150)), ("phoenix", 7, (90, 45, 0, -135)), ("general", 1, (30, 15, 0, -45))],
)
def test_places_are_worth_what_tenhou_pays(room: str, dan: int, points: tuple[float, ...]) -> None:
    assert TargetRewardConfig(room=room, dan=dan).by_place() == points


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


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("room", ROOM_POINTS)
def test_at_the_stable_rank_points_are_won_and_lost_alike(room: str, length: str) -> None:
    counts = {"general": (3, 3, 1, 3), "advanced": (3, 4, 1, 4), "expert": (3, 3, 1, 3), "phoenix": (2, 2, 4, 3)}[room]
    points = TargetRewardConfig(room=room, dan=int(stable_rank(counts, room, length))).by_place()
    assert sum(count * worth for count, worth in zip(counts, points, strict=True)) == 0


def test_without_fourth_places_the_rank_is_infinite_or_undefined() -> None:
    assert stable_rank([1, 0, 0, 0]) == math.inf
    assert math.isnan(stable_rank([0, 0, 3, 0]))
