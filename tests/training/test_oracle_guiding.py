from __future__ import annotations

from typing import Any

import pytest

from suphx.training.learner_config import OracleConfig


def test_keep_probability_falls_in_equal_steps_from_the_first_one_to_0() -> None:
    config = OracleConfig(policy=True, steps=4, updates_per_step=10)
    assert [config.keep_probability_after(n) for n in (0, 9, 10, 19, 20, 29, 30, 39)] == [
        *(0.75, 0.75, 0.5, 0.5, 0.25, 0.25, 0.0, 0.0)
    ]
    assert config.keep_probability_after(10_000) == 0.0
    assert config.num_updates == 40
    assert [n for n in range(50) if config.ends_step(n)] == [10, 20, 30, 40]
    assert [config.keep_probability_of_update(n) for n in (0, 1, 10, 11, 40)] == [1.0, 0.75, 0.75, 0.5, 0.0]


def test_keep_probability_falls_in_equal_ratios_and_ends_at_0() -> None:
    config = OracleConfig(policy=True, steps=4, ratio=0.5, updates_per_step=10)
    assert [config.keep_probability_after(n) for n in (0, 9, 10, 20, 29, 30, 10_000)] == [
        0.5,
        0.5,
        0.25,
        0.125,
        0.125,
        0.0,
        0.0,
    ]
    assert [config.keep_probability_of_update(n) for n in (0, 1, 11, 31)] == [1.0, 0.5, 0.25, 0.0]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"keep_probability": 1.2}, "keep_probability is 1.2: use 0 to 1"),
        (
            {"keep_probability": 0.5},
            r"keep_probability is 0\.5 with policy false, which sees nothing",
        ),
        ({"ratio": 1.0}, "ratio is 1.0: use 0 or more, less than 1"),
        ({"steps": -1}, "steps is -1: use 0 to 1,000,000,000"),
        ({"updates_per_step": 0}, "updates_per_step is 0: use 1 to 1,000,000,000"),
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OracleConfig(**wrong)
