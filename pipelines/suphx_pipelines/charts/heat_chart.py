"""A table of shares as a picture: how often the net chose the column where the record chose the row."""

from __future__ import annotations

import math
from collections.abc import Sequence

from suphx_pipelines.charts import svg

_CELL, _LEFT, _TOP = 14.0, 28.0, 28.0
_TITLE_OFFSET = 12.0
"""Of the names of the axes, from the edge of the picture."""
_FEWEST = 0.002
_HINT_FROM = 0.02


def heat_chart(counts: Sequence[Sequence[int]], names: Sequence[str], label: str, *, breaks: Sequence[int] = ()) -> str:
    """Return the picture of counts, each row as shares of its sum; ``breaks`` are rows with a line above them."""
    size = len(names) * _CELL
    parts = []
    for row, line in enumerate(counts):
        total = sum(line) or 1
        for column, count in enumerate(line):
            if count / total >= _FEWEST:
                parts.append(_cell(row, column, count / total, names))
    for number, name in enumerate(names):
        middle = (number + 0.5) * _CELL
        parts.append(svg.words(_LEFT - 3, _TOP + middle + 2.5, name, "end", "small"))
        parts.append(svg.words(_LEFT + middle, _TOP - 4, name, "middle", "small"))
    for place in (0, *breaks, len(names)):
        at = place * _CELL
        parts.append(svg.path([(_LEFT, _TOP + at), (_LEFT + size, _TOP + at)], "grid"))
        parts.append(svg.path([(_LEFT + at, _TOP), (_LEFT + at, _TOP + size)], "grid"))
    parts.append(svg.words(_LEFT + size / 2, _TITLE_OFFSET, "the net's choice", "middle"))
    middle = _TOP + size / 2
    turned = f"rotate(-90 {svg.coordinate(_TITLE_OFFSET)} {svg.coordinate(middle)})"
    record_axis = svg.words(_TITLE_OFFSET, middle, "the player's choice in the record", "middle")
    parts.append(svg.element("g", record_axis, transform=turned))
    return svg.drawing(_LEFT + size + 4, _TOP + size + 4, parts, label)


def _cell(row: int, column: int, share: float, names: Sequence[str]) -> str:
    hint = svg.hint(f"record {names[row]}, net {names[column]}: {share:.1%}") if share >= _HINT_FROM else ""
    place = {"x": _LEFT + column * _CELL, "y": _TOP + row * _CELL, "width": _CELL, "height": _CELL}
    return svg.element("rect", hint, **place, class_="cell", fill_opacity=f"{math.sqrt(share):.2f}")
