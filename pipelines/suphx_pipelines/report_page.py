"""HTML pieces of the report. All text is escaped here: names and reasons come from records that strangers wrote."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence

CSS = """
:root { color-scheme: light dark; --text: #1d2127; --soft: #646c78; --line: #dde1e7; --page: #ffffff; --box: #f5f7f9;
  --accent: #2467b3; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e7eb; --soft: #9aa3af; --line: #343a43; --page: #15181c;
  --box: #1d2126; --accent: #7fb2ec; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 2rem 1.25rem 4rem; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.75rem 0 .75rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.5rem 0 .4rem; }
p { margin: .5rem 0; max-width: 46rem; }
.soft, figcaption, caption { color: var(--soft); font-size: .88rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .75rem; margin: 1.25rem 0; }
.tile { background: var(--box); border: 1px solid var(--line); border-radius: .5rem; padding: .7rem .9rem; }
.tile b { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: .82rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: .75rem 0; font-size: .92rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .3rem; }
th, td { padding: .3rem .8rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
td:first-child { max-width: 24rem; white-space: normal; overflow-wrap: break-word; }
td.text { text-align: left; white-space: normal; overflow-wrap: anywhere; }
figure { margin: .75rem 0; }
figure img { max-width: 100%; height: auto; }
.net { display: flex; flex-wrap: wrap; gap: 1rem; align-items: flex-start; }
pre { background: var(--box); border: 1px solid var(--line); border-radius: .5rem; padding: .9rem 1rem;
  overflow-x: auto; font: .82rem/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; max-height: 34rem; }
nav { margin: .75rem 0 0; font-size: .9rem; } nav a { color: var(--accent); margin-right: 1rem; }
details summary { cursor: pointer; color: var(--accent); }
"""


def page(title: str, subtitle: str, sections: Sequence[tuple[str, str]]) -> str:
    """Return a whole HTML document; ``sections`` are (heading, HTML), and empty ones are left out."""
    shown = [(f"s{number}", name, body) for number, (name, body) in enumerate(sections) if body]
    links = " ".join(f'<a href="#{key}">{escape(name)}</a>' for key, name, _ in shown)
    parts = "\n".join(
        f'<section id="{key}"><h2>{escape(heading)}</h2>\n{body}</section>' for key, heading, body in shown
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{CSS}</style></head><body>\n"
        f'<h1>{escape(title)}</h1><div class="soft">{escape(subtitle)}</div><nav>{links}</nav>\n'
        f"{parts}\n</body></html>\n"
    )


def escape(text: object) -> str:
    """Return text that means itself in HTML."""
    return html.escape(str(text))


def paragraph(text: str, *, is_soft: bool = False) -> str:
    """Return a paragraph; soft ones are small print."""
    return f"<p{' class=soft' if is_soft else ''}>{escape(text)}</p>\n"


def heading(text: str) -> str:
    """Return a heading inside a section."""
    return f"<h3>{escape(text)}</h3>\n"


def tiles(figures: Iterable[tuple[str, str]]) -> str:
    """Return big numbers side by side: (number, what it is)."""
    boxes = "".join(
        f'<div class="tile"><b>{escape(value)}</b><span>{escape(what)}</span></div>' for value, what in figures
    )
    return f'<div class="tiles">{boxes}</div>\n'


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "", is_text: bool = False) -> str:
    """Return a table; the first column is left-aligned, the others too if they are text."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    cell = '<td class="text">' if is_text else "<td>"
    body = "".join("<tr>" + "".join(f"{cell}{escape(value)}</td>" for value in row) + "</tr>\n" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f'<div class="wide"><table>{title}<thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table></div>\n'


def facts(values: Mapping[str, object]) -> str:
    """Return names and values as a table of two columns."""
    return table(("", ""), [(key, str(value)) for key, value in values.items()], is_text=True)


def figure(data_uri: str, caption: str) -> str:
    """Return a picture that is inside the page."""
    text = escape(caption)
    return f'<figure><img src="{escape(data_uri)}" alt="{text}"><figcaption>{text}</figcaption></figure>\n'


def side_by_side(*parts: str) -> str:
    """Return pieces in one line where there is room."""
    return f'<div class="net">{"".join(parts)}</div>\n'


def preformatted(text: str) -> str:
    """Return text whose spaces and lines matter."""
    return f"<pre>{escape(text)}</pre>\n"


def folded(summary: str, body: str) -> str:
    """Return HTML that opens with a click."""
    return f"<details><summary>{escape(summary)}</summary>\n{body}</details>\n"
