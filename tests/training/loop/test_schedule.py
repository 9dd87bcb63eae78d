from __future__ import annotations

import pytest

from suphx.training.loop.schedule import learning_rate_factor


def test_the_rate_warms_up_linearly() -> None:
    factors = [learning_rate_factor(step, 0.0, 4, 0.1) for step in range(6)]
    assert factors == [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]


def test_the_rate_falls_as_half_a_cosine_to_the_final_factor() -> None:
    factors = [learning_rate_factor(100, progress, 10, 0.1) for progress in (0.0, 0.5, 1.0, 1.5)]
    assert factors == pytest.approx([1.0, 0.55, 0.1, 0.1])


def test_no_warm_up_starts_at_the_peak() -> None:
    assert learning_rate_factor(0, 0.0, 0, 0.1) == 1.0


def test_the_warm_up_takes_no_more_than_its_share_of_a_short_run() -> None:
    factors = [learning_rate_factor(step, step / 40, 200, 1.0, 0.1) for step in range(6)]
    assert factors == pytest.approx([1 / 200, 0.25, 0.5, 0.75, 1.0, 1.0])
