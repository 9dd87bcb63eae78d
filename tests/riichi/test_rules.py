from __future__ import annotations

from typing import Any

import pytest

from suphx.riichi.rules import Rules, tenhou, tonpuu


def test_the_usual_game_is_a_hanchan_from_25000_to_30000_with_red_fives() -> None:
    rules = tenhou()
    assert (rules.num_winds, rules.start_points, rules.target_points) == (2, 25_000, 30_000)
    assert rules.red_fives
    assert rules.open_tanyao


def test_tonpuu_differs_only_in_its_length() -> None:
    assert tonpuu() == Rules(num_winds=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_winds": 3}, "num_winds is 3: use 1"),
        ({"num_winds": 0}, "num_winds is 0"),
        ({"start_points": 0}, "start_points is 0: use a positive multiple of 100"),
        ({"start_points": 25_050}, "start_points is 25050"),
        ({"target_points": 30_001}, "target_points is 30001: use a multiple of 100"),
    ],
)
def test_a_wrong_rule_is_refused_with_the_remedy(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Rules(**options)
