"""Numbers as the report writes them; a dash for None, which means that there is no such number."""

from __future__ import annotations

from collections.abc import Sequence

from suphx_pipelines.summary.difference_text import digits_that_tell

LOWEST_RANK, HIGHEST_RANK = 0.0, 12.0
"""Stable ranks (dan) outside of this range come from too few games or from placements that no player has."""


def percent(share: float | None, digits: int = 1) -> str:
    """Return 0.1234 as "12.3 %", and a dash for None."""
    return "–" if share is None else f"{_signed(share * 100, digits)} %"


def number(value: float | None) -> str:
    """Return 12345.6 as "12,346", and a dash for None."""
    return "–" if value is None else _signed(value, 0)


def decimal(value: float | None, digits: int = 2) -> str:
    """Return a number with a fixed count of digits, and a dash for None."""
    return "–" if value is None else _signed(value, digits)


def difference(value: float | None, digits: int = 3) -> str:
    """Return a number with its sign, and a dash for None."""
    text = decimal(value, digits)
    return f"+{text}" if value is not None and round(value, digits) > 0 else text


def interval(bounds: Sequence[float | None] | None, digits: int = 2) -> str:
    """Return [low, high] as "low to high" without a line end in it, and a dash for None.

    An end that is not 0 has as many digits as it needs to show that, ``digits`` or more.
    """
    if bounds is None:
        return "–"
    shown = digits_that_tell(bounds, digits)
    return f"{decimal(bounds[0], shown)}\u00a0to\u00a0{decimal(bounds[1], shown)}"


def stable_rank(rank: float | None, bounds: Sequence[float | None] | None) -> str:
    """Return a stable rank with its interval, and a dash where the games cannot tell it."""
    if rank is None or bounds is None or bounds[0] is None or bounds[1] is None:
        return "–"
    if bounds[0] < LOWEST_RANK or bounds[1] > HIGHEST_RANK:
        return "–"
    return f"{decimal(rank, 1)} ({interval(bounds, 1)})"


def duration(seconds: float | None) -> str:
    """Return such as "3 h 12 min", "4 min 5 s" or "7 s"; a dash for None."""
    if seconds is None:
        return "–"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, left = divmod(minutes, 60)
    return f"{hours:,} h {left} min" if hours else f"{minutes} min {rest} s"


def _signed(value: float, digits: int) -> str:
    """Return a rounded number with a minus sign, and zero without one."""
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")
