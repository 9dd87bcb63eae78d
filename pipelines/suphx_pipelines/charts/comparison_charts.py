"""Charts that compare agents, or a net with records: intervals, placements, pairings, choices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from suphx_pipelines.charts import svg
from suphx_pipelines.charts.plot import Scale, span, tick_texts

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
    rows: Sequence[Row], label: str, *, axis_title: str, zero: float | None = None, sides: tuple[str, str] = ("", "")
) -> str:
    """Return the chart, the first row on top; empty text without rows.

    ``zero`` is a vertical line, included in the axis; ``sides`` say what is left and right of it.
    """
    if not rows:
        return ""
    ends = [end for row in rows for end in (row.low, row.value, row.high) if end is not None]
    height = _ROW if any(row.name or row.note for row in rows) else _BARE_ROW
    scale = Scale(*span([*ends, *([] if zero is None else [zero])]), _EDGE, WIDTH - _EDGE)
    top = 18.0 if any(sides) else 4.0
    base, ticks = top + height * len(rows) + 6, scale.ticks(6)
    parts = [svg.path([(scale.start, base), (scale.end, base)], "axis")]
    for tick, text in zip(ticks, tick_texts(ticks), strict=True):
        parts.append(svg.path([(scale.at(tick), top), (scale.at(tick), base)], "grid"))
        parts.append(svg.words(scale.at(tick), base + 14, text, "middle"))
    parts.append(svg.words(WIDTH / 2, base + 30, axis_title, "middle"))
    if zero is not None:
        x = scale.at(zero)
        parts.append(svg.path([(x, top), (x, base)], "level"))
        left, right = sides
        parts += [svg.words(_EDGE, 12, f"← {left}")] if left else []
        parts += [svg.words(WIDTH - _EDGE, 12, f"{right} →", "end")] if right else []
    for number, row in enumerate(rows):
        words, y, colour = top + height * number + 14, top + height * (number + 1) - 11, f"k{row.colour}"
        parts += [svg.words(_EDGE, words, row.name, kind="strong")] if row.name else []
        parts += [svg.words(WIDTH - _EDGE, words, row.note, "end", "soft note")] if row.note else []
        if row.low is not None and row.high is not None:
            parts.append(svg.path([(scale.at(row.low), y), (scale.at(row.high), y)], f"bar thick {colour}"))
        if row.value is not None:
            hint, place = svg.hint(f"{row.name} {row.note}".strip()), {"cx": scale.at(row.value), "cy": y, "r": 4.5}
            parts.append(svg.element("circle", hint, **place, class_=f"dot {colour}"))
    return svg.drawing(WIDTH, base + _FOOT, parts, label)


_BAR_EDGE, _BAR_HEIGHT, _PLAYER_ROW, _PLAYER_FOOT = 6.0, 24.0, 50.0, 20.0
_FEWEST_FOR_TEXT = 0.07
_QUARTERS = (0.25, 0.5, 0.75)
PLACES = ("1st", "2nd", "3rd", "4th")


def placement_chart(players: Sequence[tuple[str, Sequence[int]]], label: str) -> str:
    """Return the chart of players, each with counts of places; players without games are left out."""
    rows = [(name, [count / sum(counts) for count in counts]) for name, counts in players if sum(counts)]
    if not rows:
        return ""
    width = WIDTH - 2 * _BAR_EDGE
    base = _PLAYER_ROW * len(rows)
    parts = []
    for quarter in _QUARTERS:
        text = f"{quarter:.0%}".replace("%", " %")
        parts.append(svg.words(_BAR_EDGE + quarter * width, base + 13, text, "middle"))
    for number, (name, shares) in enumerate(rows):
        parts.append(svg.words(_BAR_EDGE, _PLAYER_ROW * number + 14, name, kind="strong"))
        texts, left, top = [], _BAR_EDGE, _PLAYER_ROW * number + 20
        for place, share in enumerate(shares):
            text = f"{100 * share:.0f} %"
            hint = svg.hint(f"{PLACES[place]}: {100 * share:.1f} %")
            box = {"x": left, "y": top, "width": share * width, "height": _BAR_HEIGHT}
            parts.append(svg.element("rect", hint, **box, class_=f"place{place}"))
            if share >= _FEWEST_FOR_TEXT:
                texts.append(svg.words(left + share * width / 2, top + 16, text, "middle", f"on in{place}"))
            left += share * width
        for x in (_BAR_EDGE + quarter * width for quarter in _QUARTERS):
            parts.append(svg.path([(x, top - 3), (x, top + _BAR_HEIGHT + 3)], "level"))
        parts += texts
    return svg.drawing(WIDTH, base + _PLAYER_FOOT, parts, label)


_PAIRING_ROW, _NAMES, _PAIRING_TOP, _LETTER = 24.0, 150.0, 20.0, 6.2
_MOST_LETTERS = 21
_FAR = 0.4


def pairing_chart(ahead: Sequence[Sequence[int]], names: Sequence[str], label: str) -> str:
    """Return the picture of ``ahead`` [agents][agents]: in how many common games the row came before the column.

    Columns have the numbers of the rows. Empty text for fewer than two agents.
    """
    if len(names) < 2:
        return ""
    size = (WIDTH - _NAMES) / len(names)
    height = min(_PAIRING_ROW, size)
    parts = []
    for row, name in enumerate(names):
        middle = _PAIRING_TOP + (row + 0.5) * height + 4
        shown = name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 1]}…"
        parts.append(svg.words(0, middle, f"{row + 1}  {shown}", kind="text"))
        parts.append(svg.words(_NAMES + (row + 0.5) * size, _PAIRING_TOP - 6, str(row + 1), "middle"))
        for column, other in enumerate(names):
            won, games = ahead[row][column], ahead[row][column] + ahead[column][row]
            if row == column or not games:
                continue
            x, y, share = _NAMES + column * size, _PAIRING_TOP + row * height, won / games
            opacity = f"{0.85 * min(abs(share - 0.5) / _FAR, 1):.2f}"
            kind, hint = "fill k2" if share > 0.5 else "fill k1", f"{name} before {other} in {won:,} of {games:,} games"
            box = {"x": x, "y": y, "width": size, "height": height}
            parts.append(svg.element("rect", svg.hint(hint), **box, class_=kind, fill_opacity=opacity))
            if size > 3 * _LETTER:
                parts.append(svg.words(x + size / 2, y + height / 2 + 4, f"{100 * share:.0f}", "middle", "cell-text"))
    return svg.drawing(WIDTH, _PAIRING_TOP + len(names) * height + 4, parts, label)


_CELL, _LEFT, _TOP = 14.0, 28.0, 28.0
_TITLE_OFFSET = 12.0
_FEWEST = 0.002
_HINT_FROM = 0.02


def heat_chart(counts: Sequence[Sequence[int]], names: Sequence[str], label: str, *, breaks: Sequence[int] = ()) -> str:
    """Return the picture of counts, each row as shares of its sum; ``breaks`` are rows with a line above them."""
    size = len(names) * _CELL
    parts = []
    for row, line in enumerate(counts):
        total = sum(line) or 1
        for column, share in enumerate(count / total for count in line):
            if share >= _FEWEST:
                text = f"record {names[row]}, net {names[column]}: {share:.1%}"
                box = {"x": _LEFT + column * _CELL, "y": _TOP + row * _CELL, "width": _CELL, "height": _CELL}
                hint, opacity = svg.hint(text) if share >= _HINT_FROM else "", f"{math.sqrt(share):.2f}"
                parts.append(svg.element("rect", hint, **box, class_="cell", fill_opacity=opacity))
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
