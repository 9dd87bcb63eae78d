"""Numbers as the report writes them; a dash for None, which stands for what cannot be told."""

from __future__ import annotations

from collections.abc import Sequence


def percent(share: float | None) -> str:
    """Return 0.1234 as "12.34 %", and a dash for None."""
    return "–" if share is None else f"{share:.2%}".replace("%", " %")


def number(value: float | None) -> str:
    """Return 12345.6 as "12,346", and a dash for None."""
    return "–" if value is None else f"{value:,.0f}"


def decimal(value: float | None, digits: int = 2) -> str:
    """Return a number with a fixed count of digits, and a dash for None."""
    return "–" if value is None else f"{value:,.{digits}f}"


def interval(bounds: Sequence[float | None] | None, digits: int = 2) -> str:
    """Return [low, high] as "low … high", and a dash for None."""
    return "–" if bounds is None else f"{decimal(bounds[0], digits)} … {decimal(bounds[1], digits)}"
