"""A picture with its title, note and legend; as a file of its own for MLflow and other viewers of SVG."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from suphx_pipelines.charts import svg

_HEAD = re.compile(r'<svg viewBox="0 0 (\S+) (\S+)" ([^>]*)class="chart">')
_TITLE, _ROW, _EDGE = 26.0, 18.0, 14.0
_LETTER, _KEY, _KEY_GAP = 6.4, 16.0, 22.0  # widths of a letter, of a line in the legend, of the space behind it


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
    rows = _legend_rows(legend, width)
    parts = [svg.words(_EDGE, -_TITLE + 17, title, kind="strong")]
    for number, row in enumerate(rows):
        parts += _legend_row(row, height + _ROW * (number + 1) - 4)
    whole = height + _TITLE + _ROW * len(rows) + (8.0 if rows else 0.0)
    size = f"0 {svg.coordinate(-_TITLE)} {svg.coordinate(width)} {svg.coordinate(whole)}"
    opened = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" width="{svg.coordinate(2 * width)}" '
        f'{head[3]}class="chart page">'
    )
    style = svg.element("style", svg.chart_style())
    return opened + style + picture[head.end() :].removesuffix("</svg>") + "".join(parts) + "</svg>"


def _legend_rows(legend: Sequence[tuple[str, str]], width: float) -> list[list[tuple[float, str, str]]]:
    """Return (left end, class, text) of the entries by row; entries that do not fit begin the next row."""
    rows: list[list[tuple[float, str, str]]] = []
    left = width
    for kind, text in legend:
        taken = _KEY + _KEY_GAP + _LETTER * len(text)
        if left + taken > width:
            rows.append([])
            left = _EDGE
        rows[-1].append((left, kind, text))
        left += taken
    return rows


def _legend_row(row: Sequence[tuple[float, str, str]], base: float) -> list[str]:
    parts = []
    for left, kind, text in row:
        parts.append(svg.path([(left, base - 4), (left + _KEY, base - 4)], f"line {kind}"))
        parts.append(svg.words(left + _KEY + 5, base, text))
    return parts
