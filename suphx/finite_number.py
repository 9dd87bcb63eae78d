"""Numbers that a float can hold, of values read from files."""

from __future__ import annotations

import sys
from typing import TypeGuard


def is_finite_number(value: object) -> TypeGuard[int | float]:
    """Return whether this is an int or a float (not a bool) that is finite as a float.

    ``math.isfinite`` alone raises OverflowError for an int above the largest float, which a file can contain.

    >>> [is_finite_number(value) for value in (0.5, 10**400, float("nan"), True, "1")]
    [True, False, False, False, False]
    """
    return type(value) in (int, float) and abs(value) <= sys.float_info.max  # type: ignore[arg-type]
