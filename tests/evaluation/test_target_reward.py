from __future__ import annotations

import pytest

from suphx.evaluation.stable_rank import stable_rank
from suphx.evaluation.target_reward import TargetRewardConfig


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


def test_any_four_numbers_may_be_given() -> None:
    assert TargetRewardConfig(points=(1.0, 0.0, 0.0, -1.0)).by_place() == (1, 0, 0, -1)


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
