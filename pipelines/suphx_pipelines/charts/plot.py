"""A chart with two axes, drawn as SVG: lines, dots, intervals and levels in a frame with round ticks.

>>> plot = Plot(x=(0, 2000), y=(0, 3), x_title="step")
>>> plot.line([(0, 2.9), (2000, 1.1)], colour=0)
>>> svg = plot.drawn("loss of the training")
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from suphx_pipelines.charts import svg
from suphx_pipelines.charts.chart_axis import Scale, Unit, tick_texts

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
        height: float = HEIGHT,
    ) -> None:
        """``x`` and ``y`` are the ranges of the axes; ``is_log`` is for the horizontal one."""
        self._height = height
        self._y = Scale(*y, height - _BOTTOM, _TOP)
        ticks = self._y.ticks()
        texts = tick_texts(ticks, y_unit)
        left = max(_LEFT, _LETTER * max(map(len, texts), default=0) + _TEXT_GAP)
        self._x = Scale(*x, left, WIDTH - _RIGHT, is_log)
        self._parts = [*self._rows(ticks, texts), *self._columns(x_unit)]
        middle = (self._x.start + self._x.end) / 2
        self._parts.append(svg.words(middle, height - _BOTTOM + _TITLE_GAP, x_title, "middle"))

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

    def level(self, y: float, colour: int | None = None) -> None:
        """Draw a dashed horizontal line, if the axis reaches it."""
        if self._y.low <= y <= self._y.high:
            ends = [(self._x.start, self._y.at(y)), (self._x.end, self._y.at(y))]
            self._parts.append(svg.path(ends, "level" if colour is None else f"level line k{colour}"))

    def diagonal(self) -> None:
        """Draw the dashed line on which both values are the same."""
        low, high = max(self._x.low, self._y.low), min(self._x.high, self._y.high)
        self._parts.append(svg.path([(self._x.at(end), self._y.at(end)) for end in (low, high)], "level"))

    def drawn(self, label: str) -> str:
        """Return the picture; ``label`` says in words what it shows."""
        return svg.drawing(WIDTH, self._height, self._parts, label)

    def _rows(self, ticks: Sequence[float], texts: Sequence[str]) -> list[str]:
        parts = []
        for tick, text in zip(ticks, texts, strict=True):
            y = self._y.at(tick)
            parts.append(svg.path([(self._x.start, y), (self._x.end, y)], "grid"))
            parts.append(svg.words(self._x.start - _TEXT_GAP, y + 4, text, "end"))
        return parts

    def _columns(self, unit: Unit) -> list[str]:
        base = self._y.start
        ticks = self._x.ticks()
        parts = [svg.path([(self._x.start, base), (self._x.end, base)], "axis")]
        for tick, text in zip(ticks, tick_texts(ticks, unit), strict=True):
            x = self._x.at(tick)
            parts.append(svg.path([(x, base), (x, base + 3)], "axis"))
            parts.append(svg.words(x, base + _TICK_GAP, text, "middle"))
        return parts
