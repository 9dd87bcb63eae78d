"""The result of a match in words: one form for logs and verdicts."""

from __future__ import annotations

from collections.abc import Sequence

_MOST_DIGITS = 6


def digits_that_tell(bounds: Sequence[float | None], least: int = 2, equal: float = 0.0) -> int:
    """Return the number of digits, at least ``least``, that shows of each of ``bounds`` whether it is ``equal``.

    >>> digits_that_tell([-0.056, -0.004])  # not "-0.06 to -0.00", which seems to touch equality
    3
    """
    digits = least
    while digits < _MOST_DIGITS and any(
        bound is not None and bound != equal and round(bound, digits) == round(equal, digits) for bound in bounds
    ):
        digits += 1
    return digits


def difference_text(difference: float, low: float, high: float, hanchans: int) -> str:
    """Return the difference in average placement of a match with its 95 % interval (``low``, ``high``).

    >>> difference_text(-0.183, -0.23, -0.14, 2000)
    'placement difference -0.18 (95 % interval -0.23 to -0.14; negative is better), 2,000 hanchans'
    """
    bounds = bounds_text(low, high)
    signed = f"placement difference {difference:+.2f} (95 % interval {bounds}; negative is better)"
    return f"{signed}, {hanchans:,} hanchans"


def bounds_text(low: float, high: float) -> str:
    """Return the interval of a difference with signs.

    >>> bounds_text(-0.056, -0.004)
    '-0.056 to -0.004'
    """
    digits = digits_that_tell([low, high])
    return f"{low:+.{digits}f} to {high:+.{digits}f}"
