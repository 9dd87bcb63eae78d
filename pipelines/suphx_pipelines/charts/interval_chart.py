"""Values with their intervals, one under the other on a common axis: ratings, placements, differences, the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from suphx_pipelines.charts import svg
from suphx_pipelines.charts.plot import Scale, Unit, span, tick_texts

WIDTH = 400.0
_ROW, _BARE_ROW, _EDGE, _FOOT = 38.0, 26.0, 14.0, 36.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One value; ``low`` and ``high`` are the ends of its interval, None where there is none."""

    value: float | None
    """None: only the interval is drawn."""
    name: str = ""
    low: float | None = None
    high: float | None = None
    colour: int = 0
    note: str = ""
    """Text at the right, above the interval."""


def interval_chart(
    rows: Sequence[Row],
    label: str,
    *,
    axis_title: str,
    unit: Unit = "number",
    zero: float | None = None,
    zero_name: str = "",
    sides: tuple[str, str] = ("", ""),
) -> str:
    """Return the chart, the first row on top; empty text without rows.

    ``zero`` is a vertical line, included in the axis, with ``zero_name`` above; ``sides`` say what is left and right
    of it.
    """
    if not rows:
        return ""
    ends = [end for row in rows for end in (row.low, row.value, row.high) if end is not None]
    height = _ROW if any(row.name or row.note for row in rows) else _BARE_ROW
    scale = Scale(*span([*ends, *([] if zero is None else [zero])]), _EDGE, WIDTH - _EDGE)
    top = 18.0 if zero_name or any(sides) else 4.0
    base = top + height * len(rows) + 6
    parts = _axis(scale, unit, top, base, axis_title)
    if zero is not None:
        x = scale.at(zero)
        parts.append(svg.path([(x, top), (x, base)], "level"))
        parts += _sides(x, sides, zero_name)
    for number, row in enumerate(rows):
        parts += _row(row, scale, top + height * number, height - 11)
    return svg.drawing(WIDTH, base + _FOOT, parts, label)


def _axis(scale: Scale, unit: Unit, top: float, base: float, title: str) -> list[str]:
    ticks = scale.ticks(6)
    parts = [svg.path([(scale.start, base), (scale.end, base)], "axis")]
    for tick, text in zip(ticks, tick_texts(ticks, unit), strict=True):
        x = scale.at(tick)
        parts.append(svg.path([(x, top), (x, base)], "grid"))
        parts.append(svg.words(x, base + 14, text, "middle"))
    return [*parts, svg.words(WIDTH / 2, base + 30, title, "middle")]


def _sides(x: float, sides: tuple[str, str], zero_name: str) -> list[str]:
    left, right = sides
    parts = [svg.words(x, 12, zero_name, "middle")] if zero_name else []
    if left:
        parts.append(svg.words(_EDGE, 12, f"← {left}"))
    if right:
        parts.append(svg.words(WIDTH - _EDGE, 12, f"{right} →", "end"))
    return parts


def _row(row: Row, scale: Scale, top: float, down: float) -> list[str]:
    y = top + down
    colour = f"k{row.colour}"
    parts = []
    if row.name:
        parts.append(svg.words(_EDGE, top + 14, row.name, kind="strong"))
    if row.note:
        parts.append(svg.words(WIDTH - _EDGE, top + 14, row.note, "end", "soft note"))
    if row.low is not None and row.high is not None:
        parts.append(svg.path([(scale.at(row.low), y), (scale.at(row.high), y)], f"bar thick {colour}"))
    if row.value is None:
        return parts
    place = {"cx": scale.at(row.value), "cy": y, "r": 4.5}
    parts.append(svg.element("circle", svg.hint(f"{row.name} {row.note}".strip()), **place, class_=f"dot {colour}"))
    return parts
