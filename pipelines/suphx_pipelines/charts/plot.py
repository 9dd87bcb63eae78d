"""A chart with two axes, drawn as SVG: lines, dots, intervals and levels in a frame with round ticks.

>>> plot = Plot(x=(0, 2000), y=(0, 3), x_title="step")
>>> plot.line([(0, 2.9), (2000, 1.1)], colour=0)
>>> svg = plot.drawn("loss of the training")
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from suphx_pipelines.charts import svg

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
        value = min(max(value, self.low), self.high)
        low, high, inside = (math.log(v) if self.is_log else v for v in (self.low, self.high, value))
        return self.start + (self.end - self.start) * (inside - low) / (high - low)

    def ticks(self, most: int = 5) -> list[float]:
        """Return round values inside, at most ``most``.

        On a logarithmic axis powers of ten, with 2 and 5 where there is room; round values if there are not two.
        """
        low, high = self.low, self.high
        if self.is_log:
            powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            for factors in ((1, 2, 5), (1,)):
                values = (factor * 10.0**power for power in powers for factor in factors)
                ticks = [value for value in values if low <= value <= high]
                if len(ticks) <= most:
                    break
            if len(ticks) > 1:
                return ticks
        return tick_values(low, high, most)


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


_HEAD = re.compile(r'<svg viewBox="0 0 (\S+) (\S+)" ([^>]*)class="chart">')
_TITLE, _ROW, _EDGE, _KEY = 26.0, 18.0, 14.0, 16.0


class Figure(NamedTuple):
    """What ``report_page.figure`` shows in a page, and ``files`` writes."""

    picture: str
    """A drawing of svg.py; empty if there is nothing to show."""
    title: str
    note: str = ""
    legend: Sequence[tuple[str, str]] = ()
    """(CSS class of the colour, text)."""


def files(figures: Mapping[str, Figure]) -> dict[str, bytes]:
    """Return the content of the files for these figures, by file name; figures without a picture are left out."""
    return {name: _content(figure).encode() for name, figure in figures.items() if figure.picture}


def _content(figure: Figure) -> str:
    picture, title, _, legend = figure
    head = _HEAD.match(picture)
    assert head is not None, "all pictures are made by svg.drawing"
    width, height = float(head[1]), float(head[2])
    parts = [svg.words(_EDGE, -_TITLE + 17, title, kind="strong")]
    for number, (kind, text) in enumerate(legend, 1):
        base = height + _ROW * number - 4
        parts.append(svg.path([(_EDGE, base - 4), (_EDGE + _KEY, base - 4)], f"line {kind}"))
        parts.append(svg.words(_EDGE + _KEY + 5, base, text))
    whole = height + _TITLE + _ROW * len(legend) + (8.0 if legend else 0.0)
    size = f"0 {svg.coordinate(-_TITLE)} {svg.coordinate(width)} {svg.coordinate(whole)}"
    opened = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" width="{svg.coordinate(2 * width)}" '
        f'{head[3]}class="chart page">'
    )
    style = svg.element("style", svg.chart_style())
    return opened + style + picture[head.end() :].removesuffix("</svg>") + "".join(parts) + "</svg>"


WIDTH, HEIGHT = 400.0, 230.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 46.0, 18.0, 8.0, 38.0
_LETTER, _TEXT_GAP = 7.0, 6.0  # width of a digit in the widest of the page's fonts; between a tick's text and the axis
_TICK_GAP, _TITLE_GAP = 15.0, 31.0


class Plot:
    """Consumes: values. Produces: a picture of 400 by 230 units that is as wide as its place in the page."""

    def __init__(
        self,
        *,
        x: tuple[float, float],
        y: tuple[float, float],
        x_title: str,
        x_unit: Unit = "number",
        y_unit: Unit = "number",
        is_log: bool = False,
    ) -> None:
        """``x`` and ``y`` are the ranges of the axes; ``is_log`` is for the horizontal one."""
        self._y = Scale(*y, HEIGHT - _BOTTOM, _TOP)
        ticks = self._y.ticks()
        texts = tick_texts(ticks, y_unit)
        left = max(_LEFT, _LETTER * max(map(len, texts), default=0) + _TEXT_GAP)
        self._x = Scale(*x, left, WIDTH - _RIGHT, is_log)
        self._parts: list[str] = []
        for tick, text in zip(ticks, texts, strict=True):
            height = self._y.at(tick)
            self._parts.append(svg.path([(self._x.start, height), (self._x.end, height)], "grid"))
            self._parts.append(svg.words(self._x.start - _TEXT_GAP, height + 4, text, "end"))
        base, ticks = self._y.start, self._x.ticks()
        self._parts.append(svg.path([(self._x.start, base), (self._x.end, base)], "axis"))
        for tick, text in zip(ticks, tick_texts(ticks, x_unit), strict=True):
            place = self._x.at(tick)
            self._parts.append(svg.path([(place, base), (place, base + 3)], "axis"))
            self._parts.append(svg.words(place, base + _TICK_GAP, text, "middle"))
        middle = (self._x.start + self._x.end) / 2
        self._parts.append(svg.words(middle, base + _TITLE_GAP, x_title, "middle"))

    def line(self, points: Iterable[tuple[float, float]], colour: int, kind: str = "line") -> None:
        """Draw a line; ``kind`` is ``line``, or ``raw`` for a thin one behind a smooth one."""
        self._parts.append(svg.path(((self._x.at(x), self._y.at(y)) for x, y in points), f"{kind} k{colour}"))

    def dot(self, x: float, y: float, colour: int, hint: str, radius: float = 3.2) -> None:
        """Draw a dot with a text for the mouse."""
        place = {"cx": self._x.at(x), "cy": self._y.at(y), "r": radius}
        self._parts.append(svg.element("circle", svg.hint(hint), **place, class_=f"dot k{colour}"))

    def interval(self, x: float, low: float, high: float, colour: int) -> None:
        """Draw an interval of the vertical axis."""
        place = self._x.at(x)
        self._parts.append(svg.path([(place, self._y.at(low)), (place, self._y.at(high))], f"bar k{colour}"))

    def level(self, y: float) -> None:
        """Draw a dashed horizontal line, if the axis reaches it."""
        if self._y.low <= y <= self._y.high:
            ends = [(self._x.start, self._y.at(y)), (self._x.end, self._y.at(y))]
            self._parts.append(svg.path(ends, "level"))

    def diagonal(self) -> None:
        """Draw the dashed line on which both values are the same."""
        low, high = max(self._x.low, self._y.low), min(self._x.high, self._y.high)
        self._parts.append(svg.path([(self._x.at(end), self._y.at(end)) for end in (low, high)], "level"))

    def drawn(self, label: str) -> str:
        """Return the picture; ``label`` says in words what it shows."""
        return svg.drawing(WIDTH, HEIGHT, self._parts, label)
