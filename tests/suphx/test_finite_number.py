from __future__ import annotations

import math
import sys

import pytest

from suphx.finite_number import is_finite_number

LARGEST = sys.float_info.max


@pytest.mark.parametrize("value", [0, -1, 0.0, -0.5, LARGEST, -LARGEST, int(LARGEST), sys.float_info.min])
def test_what_a_float_can_hold_is_a_finite_number(value: float) -> None:
    assert is_finite_number(value)
    assert math.isfinite(float(value))


@pytest.mark.parametrize(
    "value", [math.inf, -math.inf, math.nan, 10**400, -(10**400), 2 * int(LARGEST), True, "1", None]
)
def test_everything_else_is_none(value: object) -> None:
    assert not is_finite_number(value)
