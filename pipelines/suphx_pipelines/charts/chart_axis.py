"""Axes of charts: where a value lies, which ticks it has and how they are written."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Unit = Literal["number", "percent"]

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps values between ``low`` and ``high`` to coordinates between ``start`` and ``end``."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def at(self, value: float) -> float:
        """Return the coordinate of a value; values outside get that of the nearest end."""
        low, high, inside = (math.log(v) if self.is_log else v for v in (self.low, self.high, self._within(value)))
        return self.start + (self.end - self.start) * (inside - low) / (high - low)

    def ticks(self, most: int = 5) -> list[float]:
        """Return round values inside, at most ``most``.

        On a logarithmic axis powers of ten, with 2 and 5 where there is room; round values if there are not two.
        """
        return _log_ticks(self.low, self.high, most) if self.is_log else tick_values(self.low, self.high, most)

    def _within(self, value: float) -> float:
        return min(max(value, self.low), self.high)


def span(values: Iterable[float], least: float | None = None, most: float | None = None) -> tuple[float, float]:
    """Return the range of an axis: that of the values and a little more, but not below ``least`` or above ``most``."""
    known = [value for value in values if math.isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    room = (high - low) * 0.06 or abs(high) * 0.05 or 0.5
    low, high = low - room, high + room
    low = low if least is None else max(low, least)
    high = high if most is None else min(high, most)
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def tick_values(low: float, high: float, most: int = 5) -> list[float]:
    """Return the multiples of the smallest round step that has at most ``most`` of them in the range."""
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    for step in (factor * power for factor in _STEPS):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            return [number * step + 0.0 for number in range(first, last + 1)]
    raise AssertionError("the largest step has fewer ticks than any number that is asked for")


def tick_texts(values: Sequence[float], unit: Unit = "number") -> list[str]:
    """Return the texts of ticks, with as many decimals as their distances need."""
    factor, sign = (100, " %") if unit == "percent" else (1, "")
    shown = [value * factor for value in values]
    steps = [abs(b - a) for a, b in pairwise(shown)]
    step = min(steps, default=abs(shown[0]) if shown else 1) or 1
    if unit == "number" and step >= 1000:
        return [f"{value / 1000:,.{_decimals(step / 1000)}f}k" if value else "0" for value in shown]
    return [f"{value:,.{_decimals(step)}f}{sign}".replace("-", "−") for value in shown]


def _decimals(step: float) -> int:
    """Return the fewest decimals that write ``step`` exactly (at most 6)."""
    return next((digits for digits in range(6) if abs(round(step, digits) - step) < step * 1e-6), 6)


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1, 2, 5), (1,)):
        ticks = [factor * 10.0**power for power in powers for factor in factors if low <= factor * 10.0**power <= high]
        if len(ticks) <= most:
            break
    return ticks if len(ticks) > 1 else tick_values(low, high, most)
