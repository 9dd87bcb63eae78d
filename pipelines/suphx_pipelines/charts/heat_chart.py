"""A table of shares as a picture: how often the net chose the column where the record chose the row."""

from __future__ import annotations

import math
from collections.abc import Sequence

from suphx_pipelines.charts import svg

_WIDTH, _ROW, _NAMES, _PAIRING_TOP, _LETTER = 400.0, 24.0, 150.0, 20.0, 6.2
_MOST_LETTERS = 21
_FAR = 0.4
"""A share so far from one half has the full colour."""


def pairing_chart(ahead: Sequence[Sequence[int]], names: Sequence[str], label: str) -> str:
    """Return the picture of ``ahead`` [agents][agents]: in how many common games the row came before the column.

    Columns have the numbers of the rows. Empty text for fewer than two agents.
    """
    if len(names) < 2:
        return ""
    size = (_WIDTH - _NAMES) / len(names)
    height = min(_ROW, size)
    parts = []
    for row, name in enumerate(names):
        middle = _PAIRING_TOP + (row + 0.5) * height + 4
        shown = name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 1]}…"
        parts.append(svg.words(0, middle, f"{row + 1}  {shown}", kind="text"))
        parts.append(svg.words(_NAMES + (row + 0.5) * size, _PAIRING_TOP - 6, str(row + 1), "middle"))
        for column, other in enumerate(names):
            won, lost = ahead[row][column], ahead[column][row]
            if row != column and won + lost:
                box = {"x": _NAMES + column * size, "y": _PAIRING_TOP + row * height, "width": size, "height": height}
                hint = f"{name} before {other} in {won:,} of {won + lost:,} games"
                parts += _pairing_cell(box, won / (won + lost), hint, has_text=size > 3 * _LETTER)
    return svg.drawing(_WIDTH, _PAIRING_TOP + len(names) * height + 4, parts, label)


def _pairing_cell(box: dict[str, float], share: float, hint: str, *, has_text: bool) -> list[str]:
    strength = min(abs(share - 0.5) / _FAR, 1)
    kind = "fill k2" if share > 0.5 else "fill k1"
    parts = [svg.element("rect", svg.hint(hint), **box, class_=kind, fill_opacity=f"{0.85 * strength:.2f}")]
    if has_text:
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2 + 4
        parts.append(svg.words(x, y, f"{100 * share:.0f}", "middle", "cell-text"))
    return parts


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
