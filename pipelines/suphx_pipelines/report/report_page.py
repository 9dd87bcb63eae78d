"""HTML pieces of the report. All text is escaped here: names and reasons come from records that strangers wrote."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import NamedTuple

from suphx_pipelines.charts.svg import chart_style
from suphx_pipelines.charts.tile_drawing import tile_style


class Titled(NamedTuple):
    """A short text in a table, and the full one that the mouse shows."""

    text: str
    title: str


Legend = Sequence[tuple[str, str]]
"""(CSS class of the colour, text)."""

_PHONE_WIDTH = 46
"""Characters of a table in a window of 360 pixels."""
_GAP = 2


def page(title: str, subtitle: str, head: str, sections: Sequence[tuple[str, str]], *, symbols: str = "") -> str:
    """Return a whole HTML document: ``head``, then ``sections`` as (heading, HTML), of which empty ones are skipped.

    ``symbols``: SVG symbols that the page refers to.
    """
    shown = [(f"s{number}", name, body) for number, (name, body) in enumerate(sections) if body]
    links = " ".join(f'<a href="#{key}">{escape(name)}</a>' for key, name, _ in shown)
    parts = "\n".join(
        f'<section id="{key}"><h2>{escape(heading)}</h2>\n{body}</section>' for key, heading, body in shown
    )
    style = chart_style() + tile_style()
    style += files("suphx_pipelines.report").joinpath("report_style.css").read_text(encoding="utf-8")
    small = f"<small>{escape(subtitle)}</small>" if subtitle else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>\n{style}</style></head><body>\n{symbols}"
        f"<h1>{escape(title)}{small}</h1>\n{head}<nav>{links}</nav>\n{parts}\n</body></html>\n"
    )


def escape(text: object) -> str:
    """Return text that means itself in HTML; no line ends before a percent sign."""
    return html.escape(str(text)).replace(" %", "\u00a0%")


def paragraph(text: str, *, is_soft: bool = False) -> str:
    """Return a paragraph; soft ones are small print."""
    return f"<p{' class=soft' if is_soft else ''}>{escape(text)}</p>\n"


def link(text: str, page: str) -> str:
    """Return a paragraph that is a link to another page in the report's folder."""
    return f'<p><a href="{escape(page)}">{escape(text)}</a></p>\n'


def heading(text: str) -> str:
    """Return a heading inside a section."""
    return f"<h3>{escape(text)}</h3>\n"


def tiles(figures: Iterable[tuple[str, str]]) -> str:
    """Return big numbers side by side: (number, what it is); empty without any."""
    boxes = "".join(f"<div><b>{escape(value)}</b><span>{escape(what)}</span></div>" for value, what in figures)
    return f'<div class="tiles">{boxes}</div>\n' if boxes else ""


def flags(title: str, texts: Sequence[str]) -> str:
    """Return a framed list of what needs attention; empty without any."""
    items = "".join(f"<li>{escape(text[:1].upper() + text[1:])}</li>" for text in texts)
    return f'<div class="flags"><b>{escape(title)}</b><ul>{items}</ul></div>\n' if items else ""


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Titled]],
    *,
    about: str = "",
    is_text: bool = False,
    marked: int = -1,
) -> str:
    """Return a table that scrolls inside its own box; the first column stays in view.

    On a phone, one that is too wide shows each row as a list of names and values. ``about``: one line above it;
    ``is_text``: all columns are left-aligned; ``marked``: number of the row in bold.
    """
    lines = [list(row) for row in rows]
    kind = ' class="text"' if is_text else ""
    head = "".join(f"<th{kind}>{escape(column)}</th>" for column in columns)
    body = ""
    for number, row in enumerate(lines):
        cells = "".join(_cell(value, kind, column) for value, column in zip(row, columns, strict=True))
        body += f"<tr{' class=marked' if number == marked else ''}>{cells}</tr>\n"
    top = f"<thead><tr>{head}</tr></thead>" if any(columns) else ""
    stacked = ' class="stacked"' if any(columns) and _width(columns, lines) > _PHONE_WIDTH else ""
    inner = f'<div class="wide"><table{stacked}>{top}<tbody>\n{body}</tbody></table></div>\n'
    return (paragraph(about, is_soft=True) if about else "") + inner


def _cell(value: str | Titled, kind: str, column: str) -> str:
    label = f' data-label="{escape(column)}"' if column else ""
    if isinstance(value, Titled):
        return f'<td{kind}{label} title="{escape(value.title)}">{escape(value.text)}</td>'
    return f"<td{kind}{label}>{escape(value)}</td>"


def _width(columns: Sequence[str], rows: Sequence[Sequence[str | Titled]]) -> int:
    """Return about how many characters wide a table is: the words of a heading may be in lines of their own."""
    width = 0
    for place, column in enumerate(columns):
        words = max((len(word) for word in column.split()), default=0)
        cells = (row[place] for row in rows)
        widest = max((len(cell.text if isinstance(cell, Titled) else cell) for cell in cells), default=0)
        width += max(words, widest) + _GAP
    return width


def facts(
    values: Mapping[str, str], *, whole: Mapping[str, str] | None = None, links: Mapping[str, str] | None = None
) -> str:
    """Return names and values side by side.

    ``whole`` ones, such as a command, have a line and the type of code; ``links`` are addresses.
    """
    items = "".join(f"<div><dt>{escape(key)}</dt><dd>{escape(value)}</dd></div>" for key, value in values.items())
    for key, value in (whole or {}).items():
        items += f'<div class="whole"><dt>{escape(key)}</dt><dd><code>{escape(value)}</code></dd></div>'
    for key, address in (links or {}).items():
        name, where = escape(key), escape(address)
        items += f'<div class="whole"><dt>{name}</dt><dd><a href="{where}">{where}</a></dd></div>'
    return f'<dl class="facts">{items}</dl>\n'


def figure(picture: str, title: str, note: str = "", legend: Legend = (), *, is_large: bool = False) -> str:
    """Return a picture with its title; empty without a picture. ``is_large``: wider than a curve is."""
    if not picture:
        return ""
    small = f"<small>{escape(note)}</small>" if note else ""
    keys = "".join(f'<span class="{kind}"><i></i>{escape(text)}</span>' for kind, text in legend)
    below = f'<div class="legend">{keys}</div>' if keys else ""
    kind = ' class="large"' if is_large else ""
    return f"<figure{kind}><figcaption>{escape(title)}{small}</figcaption>{picture}{below}</figure>\n"


def side_by_side(*parts: str) -> str:
    """Return figures in rows of two or three where there is room, one under the other on a phone."""
    shown = [part for part in parts if part]
    return f'<div class="charts">{"".join(shown)}</div>\n' if shown else ""


def code(text: str) -> str:
    """Return a command in the type of code; its lines end where there is no more room."""
    return f"<p><code>{escape(text)}</code></p>\n"


def preformatted(text: str) -> str:
    """Return text whose spaces and lines matter."""
    return f"<pre>{escape(text)}</pre>\n"


def folded(summary: str, body: str) -> str:
    """Return HTML that opens with a click."""
    return f"<details><summary>{escape(summary)}</summary>\n{body}</details>\n"
