"""HTML pieces of the report. The template escapes all text: names and reasons come from records of strangers."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.environment import TemplateModule
from markupsafe import Markup
from markupsafe import escape as escape_text

from suphx.evaluation.match_config import MIN_CLUSTERS
from suphx_pipelines.charts.comparison_charts import Row, interval_chart
from suphx_pipelines.charts.plot import Figure
from suphx_pipelines.charts.svg import chart_style
from suphx_pipelines.recipe.recipe_file import to_toml
from suphx_pipelines.runs.provenance import environment
from suphx_pipelines.runs.run_summary import RunSummary
from suphx_pipelines.runs.verdict import Verdict, digits_that_tell

LONGEST = 36
_NAME_GAP = "…"


def short_names(names: Sequence[str], longest: int = LONGEST) -> list[str]:
    """Return each name in at most ``longest`` letters, the middle left out, no two different names alike.

    Names that would read the same get a number in front.
    """
    short = {name: _elided(name, longest) for name in names}
    alike = Counter(short.values())
    seen: Counter[str] = Counter()
    for name, told in short.items():
        if alike[told] > 1:
            seen[told] += 1
            mark = f"({seen[told]}) "
            short[name] = mark + _elided(name, longest - len(mark))
    return [short[name] for name in names]


def _elided(name: str, longest: int) -> str:
    if len(name) <= longest:
        return name
    end = (longest - len(_NAME_GAP)) * 2 // 3  # ends of paths and command lines tell more than beginnings
    return name[: longest - len(_NAME_GAP) - end] + _NAME_GAP + name[-end:]


def percent(share: float | None, digits: int = 1) -> str:
    """Return 0.1234 as "12.3 %", and a dash for None."""
    return "–" if share is None else f"{_signed(share * 100, digits)} %"


def number(value: float | None) -> str:
    """Return 12345.6 as "12,346", and a dash for None."""
    return "–" if value is None else _signed(value, 0)


def decimal(value: float | None, digits: int = 2) -> str:
    """Return a number with a fixed count of digits, and a dash for None."""
    return "–" if value is None else _signed(value, digits)


def difference(value: float | None, digits: int = 3) -> str:
    """Return a number with its sign, and a dash for None."""
    text = decimal(value, digits)
    return f"+{text}" if value is not None and round(value, digits) > 0 else text


def interval(bounds: Sequence[float | None] | None, digits: int = 2) -> str:
    """Return [low, high] as "low to high" without a line end in it, and a dash for None.

    An end that is not 0 has as many digits as it needs to show that, ``digits`` or more.
    """
    if bounds is None:
        return "–"
    shown = digits_that_tell(bounds, digits)
    return f"{decimal(bounds[0], shown)}\u00a0to\u00a0{decimal(bounds[1], shown)}"


_WIDENED = "\u00a0(widened)"


def found_interval(found: Mapping[str, Any], digits: int = 2, name: str = "") -> str:
    """Return the ``interval`` of a difference for a cell of a table, with its ``widened_mark``.

    ``name`` is in front of both keys, such as ``difference_``.
    """
    return interval(found[f"{name}interval"], digits) + widened_mark(found, name)


def widened_mark(found: Mapping[str, Any], name: str = "") -> str:
    """Return what is behind an interval that ``is_widened`` (suphx/evaluation/statistics.py); else empty."""
    return _WIDENED if found.get(f"{name}is_widened") else ""  # results of earlier versions do not have it


def widened_about(cells: Iterable[Sequence[object]]) -> str:
    """Return the sentence below a table that explains ``widened_mark``; empty if no cell has it."""
    is_there = any(_WIDENED in str(cell) for row in cells for cell in row)
    return f" Widened to include no difference: fewer than {MIN_CLUSTERS} walls or decks differ." if is_there else ""


def duration(seconds: float | None) -> str:
    """Return such as "3 h 12 min", "4 min 5 s" or "7 s"; a dash for None."""
    if seconds is None:
        return "–"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, left = divmod(minutes, 60)
    return f"{hours:,} h {left} min" if hours else f"{minutes} min {rest} s"


def _signed(value: float, digits: int) -> str:
    """Return a rounded number with a minus sign, and zero without one."""
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")


class Titled(NamedTuple):
    """A short text in a table, and the full one that the mouse shows."""

    text: str
    title: str


Legend = Sequence[tuple[str, str]]
"""(CSS class of the colour, text)."""

_PHONE_WIDTH = 41
"""Characters of a table in a window of 360 pixels."""
_GAP = 2


def page(title: str, subtitle: str, head: str, sections: Sequence[tuple[str, str]]) -> str:
    """Return a whole HTML document: ``head``, then ``sections`` as (heading, HTML), of which empty ones are skipped."""
    shown = [(f"s{number}", name, Markup(body)) for number, (name, body) in enumerate(sections) if body]
    style = chart_style()
    style += files("suphx_pipelines.report").joinpath("template", "report_style.css").read_text(encoding="utf-8")
    return _render("page", title, subtitle, Markup(style), Markup(head), shown)


def escape(text: object) -> str:
    """Return text that means itself in HTML; no line ends before a percent sign."""
    return str(escape_text(_tied(str(text))))


def paragraph(text: str, *, is_soft: bool = False) -> str:
    """Return a paragraph; soft ones are small print."""
    return _render("paragraph", text, is_soft)


def link(text: str, page: str) -> str:
    """Return a paragraph that is a link to another page in the report's folder."""
    return _render("link", text, page)


def heading(text: str) -> str:
    """Return a heading inside a section."""
    return _render("heading", text)


def tiles(figures: Iterable[tuple[str, str]]) -> str:
    """Return big numbers side by side: (number, what it is); empty without any."""
    shown = list(figures)
    return _render("tiles", shown) if shown else ""


def flags(title: str, texts: Sequence[str]) -> str:
    """Return a framed list of what needs attention; empty without any."""
    return _render("flags", title, [text[:1].upper() + text[1:] for text in texts]) if texts else ""


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
    lines = [[value if isinstance(value, Titled) else Titled(value, "") for value in row] for row in rows]
    is_stacked = any(columns) and _width(columns, lines) > _PHONE_WIDTH
    table_text = _render("table", columns, lines, is_text, marked, is_stacked)
    return (paragraph(about, is_soft=True) if about else "") + table_text


def _width(columns: Sequence[str], rows: Sequence[Sequence[Titled]]) -> int:
    """Return about how many characters wide a table is: the words of a heading may be in lines of their own."""
    width = 0
    for place, column in enumerate(columns):
        words = max((len(word) for word in column.split()), default=0)
        cells = (row[place] for row in rows)
        widest = max((len(cell.text) for cell in cells), default=0)
        width += max(words, widest) + _GAP
    return width


def facts(
    values: Mapping[str, str], *, whole: Mapping[str, str] | None = None, links: Mapping[str, str] | None = None
) -> str:
    """Return names and values side by side.

    ``whole`` ones, such as a command, have a line and the type of code; ``links`` are addresses.
    """
    return _render("facts", values, whole or {}, links or {})


def figure(picture: str, title: str, note: str = "", legend: Legend = (), *, is_large: bool = False) -> str:
    """Return a picture with its title; empty without a picture. ``is_large``: wider than a curve is."""
    return _render("figure", Markup(picture), title, note, legend, is_large) if picture else ""


def side_by_side(*parts: str) -> str:
    """Return figures in rows of two or three where there is room, one under the other on a phone."""
    shown = [Markup(part) for part in parts if part]
    return _render("side_by_side", shown) if shown else ""


def code(text: str) -> str:
    """Return a command in the type of code; its lines end where there is no more room."""
    return _render("code", text)


def preformatted(text: str) -> str:
    """Return text whose spaces and lines matter."""
    return _render("preformatted", text)


def folded(summary: str, body: str) -> str:
    """Return HTML that opens with a click."""
    return _render("folded", summary, Markup(body))


def _render(macro: str, *values: object) -> str:
    """Return what a macro of the template makes of values, of which all but Markup are escaped."""
    return str(getattr(_template(), macro)(*values))


@cache
def _template() -> TemplateModule:
    loaded = Environment(
        loader=PackageLoader("suphx_pipelines.report", "template"),
        autoescape=True,
        finalize=_tied,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    return loaded.get_template("report_page.html.jinja").module


def _tied(value: object) -> object:
    """Return text in which no line ends before a percent sign; other values as they are."""
    return value.replace(" %", "\u00a0%") if isinstance(value, str) and not isinstance(value, Markup) else value


_OUTCOME_COLOURS = {"better": 2, "worse": 4, "not_better": 6, "undecided": 6, "none": 6}
_LONGEST_COMMAND = 120
"""Characters; a longer one opens with a click."""
_HYPHEN = re.compile(r"(?<![\w.])-(?=\d)")
"""A minus sign as a terminal shows it."""


def verdict_card(verdict: Verdict) -> str:
    """Return the verdict in the colour of its outcome, with the interval of the difference if there is one."""
    sentence = _HYPHEN.sub("−", verdict.sentence)
    text = f"<div><strong>{escape(sentence)}</strong></div>"
    picture = verdict_figure(verdict).picture
    bar = f"<div>{picture}</div>" if picture else ""
    return f'<div class="verdict {verdict.outcome}">{text}{bar}</div>\n'


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What each report shows of the run itself."""

    title: str
    verdict: Verdict
    recipe: str
    """As TOML."""
    machine: Mapping[str, str]
    """Versions and the machine (provenance.py)."""
    summary: RunSummary | None = None
    commands: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What a person may do next: what it does -> the command."""

    @classmethod
    def of(
        cls, folder: Path, recipe: Any, verdict: Verdict, commands: Mapping[str, Sequence[str]] | None = None
    ) -> Run:
        """Return that of the run in ``folder``."""
        return cls(
            title=f"Suphx: {recipe.name}",
            verdict=verdict,
            recipe=to_toml(recipe),
            machine=environment(),
            summary=RunSummary.read(folder),
            commands=commands or {},
        )

    def page(
        self,
        sections: Sequence[tuple[str, str]],
        *,
        subtitle: str = "",
        warnings: Sequence[str] = (),
        figures: Sequence[tuple[str, str]] = (),
    ) -> str:
        """Return the whole report: the verdict, what needs attention, the run, ``figures``, sections, and settings."""
        told = [*(self.summary.warnings if self.summary else ()), *warnings]
        head = verdict_card(self.verdict) + flags("Needs attention", told) + run_facts(self.summary, self.machine)
        head += tiles(figures) + next_steps(self.commands)
        settings = facts(self.machine) + folded("The whole recipe", preformatted(self.recipe))
        return page(self.title, subtitle, head, [*sections, ("Settings", settings)])


def run_facts(summary: RunSummary | None, machine: Mapping[str, str]) -> str:
    """Return when, where and how the run was made, with its page in MLflow."""
    commit = machine.get("commit", "unknown")
    if summary is None:
        return facts({"commit": _short(commit)})
    values = {
        "run": summary.run_id,
        "started": _date(summary.started),
        "time spent": duration(summary.seconds),
        "machine": summary.machine or machine.get("processor", "–"),
        "version": f"{summary.version or machine.get('suphx', '')} ({_short(summary.commit or commit)})",
    }
    page = summary.tracking_page
    command = shlex.join(summary.command)
    commands = {"MLflow": "" if page.startswith("http") else page}
    is_folded = len(command) > _LONGEST_COMMAND
    if not is_folded:
        commands = {"command": command, **commands}
    links = {"MLflow": page} if page.startswith("http") else {}
    shown = facts(values, whole={name: text for name, text in commands.items() if text}, links=links)
    return shown + (folded("The command of this run", code(command)) if is_folded else "")


def next_steps(commands: Mapping[str, Sequence[str]]) -> str:
    """Return the commands for a person who wants to try the agent of the run; empty without any."""
    if not commands:
        return ""
    shown = {what: shlex.join(command) for what, command in commands.items()}
    return heading("Next steps") + facts({}, whole=shown)


def verdict_figure(verdict: Verdict) -> Figure:
    """Return the difference behind the verdict with its interval; without a picture if there was no match."""
    title = "Difference in average placement"
    if verdict.difference is None or verdict.low is None or verdict.high is None:
        return Figure("", title)
    row = Row(value=verdict.difference, low=verdict.low, high=verdict.high, colour=_OUTCOME_COLOURS[verdict.outcome])
    picture = interval_chart(
        [row],
        f"{title} {difference(verdict.difference)}, 95 % interval {interval((verdict.low, verdict.high), 3)}",
        axis_title="difference in average placement, with 95 % interval",
        zero=0.0,
        sides=("better", "worse"),
    )
    return Figure(picture, title)


def _date(started: str) -> str:
    """Return an ISO time as "2026-11-22 04:05 UTC"; other texts as they are."""
    try:
        return datetime.fromisoformat(started).strftime("%Y-%m-%d %H:%M %Z").strip()
    except ValueError:
        return started


def _short(commit: str) -> str:
    name, _, mark = commit.partition("-")
    return name[:10] + (f"-{mark}" if mark else "")
