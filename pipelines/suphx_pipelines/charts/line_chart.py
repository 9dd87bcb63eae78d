"""Curves over steps, updates or games: raw values behind a smooth line, dots with intervals, dashed levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suphx_pipelines.charts.plot import Figure, Plot, Unit, span, tick_texts

MIN_SMOOTHED = 12
_SMOOTHED_SHARE = 20
_MOST_POINTS = 400

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One line of a chart."""

    name: str
    points: Sequence[Point]
    colour: int = 0
    is_smoothed: bool = False
    """Draw the points thin, and their moving mean over a twentieth of them as the line."""
    has_dots: bool = False
    intervals: Sequence[tuple[float, float]] = ()

    @property
    def is_shown(self) -> bool:
        """Whether a chart with other curves shows it: one point alone is not a line, but may be a dot."""
        return len(self.points) > 1 or (self.has_dots and bool(self.points))


def curve_of(
    name: str,
    points: Sequence[Mapping[str, Any]],
    x: str,
    y: str,
    colour: int = 0,
    *,
    is_smoothed: bool = False,
    has_dots: bool = False,
) -> Curve:
    """Return the curve of one key of plain points; points without it are skipped."""
    known = [(float(point[x]), float(point[y])) for point in points if point.get(y) is not None]
    return Curve(name=name, points=known, colour=colour, is_smoothed=is_smoothed, has_dots=has_dots)


def line_chart(
    curves: Sequence[Curve],
    label: str,
    *,
    x_title: str,
    y_unit: Unit = "number",
    levels: Sequence[float] = (),
    least: float | None = None,
    most: float | None = None,
    is_log: bool = False,
) -> str:
    """Return a chart of curves, with the dots of those of one point; empty text if no curve has two points or more.

    ``levels`` are dashed lines, which the vertical axis includes; ``least`` and ``most`` bound that axis.
    """
    if all(len(curve.points) < 2 for curve in curves):
        return ""
    drawn = [curve for curve in curves if curve.is_shown]
    x_values = [x for curve in drawn for x, _ in curve.points]
    y_values = [y for curve in drawn for y in (*(y for _, y in curve.points), *(v for i in curve.intervals for v in i))]
    from_zero = min(0.0, *x_values), max(x_values) or 1.0
    plot = Plot(
        x=(min(x_values) / 1.15, max(x_values) * 1.15) if is_log else from_zero,
        y=span([*y_values, *levels], least, most),
        x_title=x_title,
        y_unit=y_unit,
        is_log=is_log,
    )
    for level in levels:
        plot.level(level)
    for curve in drawn:
        _draw(plot, curve, x_title, y_unit)
    return plot.drawn(label)


def curve_figure(
    title: str, curves: Sequence[Curve], note: str = "", *, label: str = "", has_legend: bool | None = None, **axes: Any
) -> Figure:
    """Return curves as a figure; ``axes``: of ``line_chart``. Several curves have a legend, unless ``has_legend``."""
    shown = [(f"k{curve.colour}", curve.name) for curve in curves if curve.is_shown]
    is_named = len(curves) > 1 if has_legend is None else has_legend
    return Figure(line_chart(curves, label or title, **axes), title, note, shown if is_named else ())


def reliability_chart(groups: Sequence[Sequence[float]], label: str, *, x_title: str, unit: Unit = "percent") -> str:
    """Return what happened against what was predicted; groups are [predicted, happened, number]; empty without any."""
    filled = [group for group in groups if group[2] > 0]
    if not filled:
        return ""
    both = [value for group in filled for value in group[:2]]
    ends = (0.0, 1.0) if unit == "percent" else span(both)
    plot = Plot(x=ends, y=ends, x_title=x_title, x_unit=unit, y_unit=unit)
    plot.diagonal()
    most = max(group[2] for group in filled)
    for predicted, happened, number in filled:
        x, y = tick_texts([predicted], unit)[0], tick_texts([happened], unit)[0]
        plot.dot(predicted, happened, 0, f"{x} predicted, {y} observed, {number:,.0f} samples", 2 + 5 * number / most)
    return plot.drawn(label)


def moving_mean(points: Sequence[Point]) -> list[Point]:
    """Return the mean of each point and its neighbours, a twentieth of all points wide."""
    reach = max(1, len(points) // (2 * _SMOOTHED_SHARE))
    means = []
    for place, (x, _) in enumerate(points):
        near = points[max(0, place - reach) : place + reach + 1]
        means.append((x, sum(y for _, y in near) / len(near)))
    return means


def _draw(plot: Plot, curve: Curve, x_title: str, unit: Unit) -> None:
    every = -(-len(curve.points) // _MOST_POINTS)  # more cannot be seen, and make the page heavy
    points = [*curve.points[:-1:every], curve.points[-1]]
    if curve.is_smoothed and len(points) >= MIN_SMOOTHED:
        plot.line(points, curve.colour, "raw")
        points = moving_mean(points)
    for (x, _), (low, high) in zip(curve.points, curve.intervals, strict=False):
        plot.interval(x, low, high, curve.colour)
    if len(points) > 1:
        plot.line(points, curve.colour)
    if curve.has_dots:
        for x, y in curve.points:
            exact = f"{100 * y:.2f} %" if unit == "percent" else f"{y:,.4g}"
            plot.dot(x, y, curve.colour, f"{curve.name}: {exact} at {x_title} {x:,.0f}")
