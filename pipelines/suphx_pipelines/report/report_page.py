"""What all reports share: how numbers and names are written, the frame of a page, and what it shows of a run.

Each report is one template in ``template/``, which makes ``sections``: (heading, HTML); empty ones are skipped.
Templates escape all text: names and reasons come from records of strangers.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from suphx.evaluation.match_config import MIN_CLUSTERS, few_games_note, widened_note
from suphx.evaluation.measures import Measure, measure_of
from suphx_pipelines.charts.comparison_charts import Row, interval_chart
from suphx_pipelines.charts.plot import Figure
from suphx_pipelines.charts.svg import chart_style
from suphx_pipelines.recipe.recipe_file import to_toml
from suphx_pipelines.runs.provenance import environment
from suphx_pipelines.runs.run_summary import RunSummary
from suphx_pipelines.runs.verdict import Verdict, digits_that_tell
from suphx_platform.console.table_text import count_text, duration_text

LONGEST = 36
_NAME_GAP = "…"


def short_names(names: Sequence[str], longest: int = LONGEST) -> list[str]:
    """Return each name in at most ``longest`` letters, the middle left out, no two different names alike.

    Names that would read the same get a number in front.
    """

    def elided(name: str, most: int) -> str:
        end = (most - len(_NAME_GAP)) * 2 // 3  # ends of paths and command lines tell more than beginnings
        return name if len(name) <= most else name[: most - len(_NAME_GAP) - end] + _NAME_GAP + name[-end:]

    short = {name: elided(name, longest) for name in names}
    alike = Counter(short.values())
    seen: Counter[str] = Counter()
    for name, told in short.items():
        if alike[told] > 1:
            seen[told] += 1
            mark = f"({seen[told]}) "
            short[name] = mark + elided(name, longest - len(mark))
    return [short[name] for name in names]


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
    """Return such as "3 h 12 min" or "7 s", and a dash for None."""
    return "–" if seconds is None else duration_text(round(seconds))


def _signed(value: float, digits: int) -> str:
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")


class Titled(NamedTuple):
    """A short text in a table, and the full one that the mouse shows."""

    text: str
    title: str


Sections = Sequence[tuple[str, str]]
"""Heading and HTML of each; one without content is left out."""

_PHONE_WIDTH = 41
"""Characters of a table in a window of 360 pixels."""
_GAP = 2


def sections(report: str, **values: Any) -> Sections:
    """Return the sections that the template of a report makes of values; it sets ``sections``."""
    module: Any = _templates().get_template(f"{report}.html.jinja").make_module(values)
    return [(heading, str(body).strip()) for heading, body in module.sections]


def page(title: str, subtitle: str, head: str, shown: Sections) -> str:
    """Return a whole HTML document: ``head``, then the sections that are not empty."""
    named = [(f"s{number}", name, Markup(body)) for number, (name, body) in enumerate(shown) if body]
    style = chart_style()
    style += files("suphx_pipelines.report").joinpath("template", "report_style.css").read_text(encoding="utf-8")
    text = piece("page", title, subtitle, Markup(style), Markup(head), named)
    return text.replace(" %", "\u00a0%")  # no line ends before a percent sign


def piece(macro: str, *values: object, template: str = "pieces.html.jinja") -> str:
    """Return what a macro of a template makes of values, of which all but Markup are escaped in HTML."""
    return str(getattr(_templates().get_template(template).module, macro)(*values))


def with_values(
    columns: Sequence[str], rows: Iterable[Sequence[str | Titled]]
) -> tuple[list[str], list[list[str | Titled]]]:
    """Return a table without the columns in which all cells are dashes."""
    kept = list(rows)
    places = [place for place in range(len(columns)) if not kept or any(row[place] != "–" for row in kept)]
    return [columns[place] for place in places], [[row[place] for place in places] for row in kept]


def is_wide(columns: Sequence[str], rows: Iterable[Sequence[str | Titled]]) -> bool:
    """Tell whether a table with a heading has no room on a phone: there each row becomes names and values."""
    width = 0
    for place, column in enumerate(columns):
        words = max((len(word) for word in column.split()), default=0)  # may be in lines of their own
        texts = (cell.text if isinstance(cell, Titled) else cell for cell in (row[place] for row in rows))
        width += max(words, max(map(len, texts), default=0)) + _GAP
    return any(columns) and width > _PHONE_WIDTH


@cache
def _templates() -> Environment:
    loaded = Environment(
        loader=PackageLoader("suphx_pipelines.report", "template"),
        autoescape=lambda name: name is None or name.endswith(".html.jinja"),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.do"],
    )
    written = (percent, number, decimal, difference, interval, duration, short_names, found_interval)
    loaded.filters |= {function.__name__: function for function in written}
    told = (is_wide, with_values, widened_about, widened_note, few_games_note, count_text, measure_of)
    loaded.globals |= {function.__name__: function for function in told}
    return loaded


_OUTCOME_COLOURS = {"better": 2, "worse": 4, "not_better": 6, "undecided": 6, "none": 6}
_LONGEST_COMMAND = 120
_HYPHEN = re.compile(r"(?<![\w.])-(?=\d)")
"""A minus sign as a terminal shows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What each report shows of the run itself."""

    title: str
    verdict: Verdict
    recipe: str
    machine: Mapping[str, str]
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
        shown: Sections,
        *,
        subtitle: str = "",
        warnings: Sequence[str] = (),
        figures: Sequence[tuple[str, str]] = (),
    ) -> str:
        """Return the whole report: the verdict, what needs attention, the run, ``figures``, sections, and settings."""
        summary, machine = self.summary, self.machine
        told = [*(summary.warnings if summary else ()), *warnings]
        sentence = _HYPHEN.sub("−", self.verdict.sentence)
        head = piece("verdict", self.verdict.outcome, sentence, Markup(verdict_figure(self.verdict).picture))
        head += piece("flags", [text[:1].upper() + text[1:] for text in told])
        commit = _short(machine.get("commit", "unknown"))
        if summary is None:
            head += piece("facts", {"commit": commit})
        else:
            commit = _short(summary.commit) if summary.commit else commit
            started = summary.started
            with suppress(ValueError):  # shown as it is
                started = datetime.fromisoformat(started).strftime("%Y-%m-%d %H:%M %Z").strip()
            values = {
                "run": summary.run_id,
                "started": started,
                "time spent": duration(summary.seconds),
                "machine": summary.machine or machine.get("processor", "–"),
                "version": f"{summary.version or machine.get('suphx', '')} ({commit})",
            }
            command = shlex.join(summary.command)
            head += piece("run", values, command, len(command) > _LONGEST_COMMAND, summary.tracking_page)
        head += piece("tiles", figures) if figures else ""
        head += piece("next_steps", {what: shlex.join(command) for what, command in self.commands.items()})
        settings = piece("settings", machine, self.recipe)
        return page(self.title, subtitle, head, [*shown, ("Settings", settings)])


def verdict_figure(verdict: Verdict) -> Figure:
    """Return the difference behind the verdict with its interval; without a picture if there was no match."""
    name = verdict.measure.difference_name
    title = name.capitalize()
    if verdict.difference is None or verdict.low is None or verdict.high is None:
        return Figure("", title)
    row = Row(value=verdict.difference, low=verdict.low, high=verdict.high, colour=_OUTCOME_COLOURS[verdict.outcome])
    picture = interval_chart(
        [row],
        f"{title} {difference(verdict.difference)}, 95 % interval {interval((verdict.low, verdict.high), 3)}",
        axis_title=f"{name}, with 95 % interval",
        zero=0.0,
        sides=sides(verdict.measure, "better", "worse"),
    )
    return Figure(picture, title)


def sides(measure: Measure, better: str, worse: str) -> tuple[str, str]:
    """Return what is left and right of no difference in a chart."""
    return (worse, better) if measure.sign > 0 else (better, worse)


def _short(commit: str) -> str:
    name, _, mark = commit.partition("-")
    return name[:10] + (f"-{mark}" if mark else "")
