"""What the pages of tournaments show alike: a page that reloads itself while games come in, and the ratings.

MLflow gets a copy of the live page every minute, so that it can be seen where nobody reaches the files of the machine
that plays.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from suphx.atomic_file import write_atomically
from suphx.evaluation.sequential import SequentialOutcome
from suphx_pipelines.charts.comparison_charts import Row as Line
from suphx_pipelines.charts.comparison_charts import interval_chart, pairing_chart
from suphx_pipelines.charts.line_chart import Curve, curve_figure
from suphx_pipelines.charts.plot import Figure
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_page import interval, number
from suphx_pipelines.runs.stage import TRACKED_FOLDER, StageContext

LIVE_NAME = "live.html"
RELOAD_SECONDS = 10
TRACKED_SECONDS = 60
"""Between two copies for MLflow."""
_PAUSE_SHARE = 20
"""A page is written again after so many times the time that it took: 5 % of one core at most."""
_REPORT, LIVE_DECISION = "../report/report.html", f"../decision/{LIVE_NAME}"
Row = Mapping[str, Any]
Sections = Sequence[tuple[str, str]]
"""Heading and HTML of each; one without content is left out."""
Content = Callable[[], tuple[str, Sections]]
"""Returns the top of the page and its sections."""
_LINK = re.compile(r'<a href="(?!https?:|#)[^"]*">(.*?)</a>', re.DOTALL)


def without_links(page: str) -> str:
    """Return a page without its links to other files, which are not beside it in MLflow."""
    return _LINK.sub(r"\1", page)


class LivePage:
    """Consumes: what a stage shows. Produces: ``live.html`` every ten seconds at most, and a copy for MLflow.

    The copy is an artifact of the tournament's run, so the page of a later stage replaces that of an earlier one. A
    thread of the tracker sends it: games never wait for it. While MLflow is away no copies are queued.
    """

    def __init__(self, context: StageContext[Any], about: str) -> None:
        """``context``: of a tournament of any game; ``about``: what the page shows, for the console."""
        self._path = context.folder / LIVE_NAME
        self._copy = context.folder / TRACKED_FOLDER / LIVE_NAME
        self._copy.parent.mkdir(exist_ok=True)
        self._tracker = context.tracker.parent or context.tracker
        self._title, self._night = f"Suphx: {context.recipe.name}", context.recipe.night
        self._about = about
        self._next = self._next_copy = 0.0
        """Times from which on the page and the copy are written again."""
        self._say = context.console.say

    def offer(self, content: Content) -> None:
        """Write the page if it is time."""
        started = time.monotonic()
        if started < self._next:
            return
        is_first = self._next == 0
        head, sections = content()
        note = report_page.paragraph(f"This page reloads every {RELOAD_SECONDS} seconds.", is_soft=True)
        page = self._page(head + note, sections, state=", live")
        reloading = f'<meta http-equiv="refresh" content="{RELOAD_SECONDS}"><title>'
        write_atomically(self._path, [page.replace("<title>", reloading, 1).encode()])
        if started >= self._next_copy and not self._tracker.figures()["tracking_outage_seconds"]:
            text = (
                f"Written at {datetime.now(UTC):%Y-%m-%d %H:%M} UTC. MLflow gets a new page about every "
                f"{TRACKED_SECONDS} seconds: reload MLflow's page to see it."
            )
            self._send(self._page(head + report_page.paragraph(text, is_soft=True), sections, state=", live"))
            self._next_copy = started + TRACKED_SECONDS
        if is_first:
            self._say(f"{self._about}, live: {self._path.resolve().as_uri()}, and {LIVE_NAME} of the run in MLflow")
        spent = time.monotonic() - started
        self._next = started + max(RELOAD_SECONDS, _PAUSE_SHARE * spent)

    def write_last(self, content: Content) -> None:
        """Write the page with all games; it reloads no more."""
        page = self._page(*content())
        write_atomically(self._path, [page.encode()])
        self._send(page)

    def _send(self, page: str) -> None:
        write_atomically(self._copy, [without_links(page).encode()])
        self._tracker.log_artifact(self._copy)

    def _page(self, head: str, sections: Sections, *, state: str = "") -> str:
        return report_page.page(self._title, f"tournament of {self._night}{state}", head, sections)


def report_link() -> str:
    """Return where the report of the night is when the tournament is over."""
    return report_page.link("The report of the night (report.html), when the tournament is over", _REPORT)


@dataclass(slots=True)
class LiveState:
    """What is known of a deciding match that is being played."""

    outcome: SequentialOutcome | None = None
    """Of the last look of the test; None before the first."""
    played: float = 0.0
    """Games of the match that decides."""
    fresh: float = 0.0
    """Games of the match on new deals."""
    is_over: bool = False
    """No more games are played."""


MOST_LINES = 6
"""Agents in a chart with a colour for each."""
_PART_COLOURS = {"champion": 1, "candidate": 2, "": 0}


def rating_scale(table: Mapping[str, Any]) -> str:
    """Return who has 1,000 points: the anchor, or without a game of it the mean of all agents."""
    if table["is_anchored"]:
        return f"{table['anchor']} has 1,000 points in all nights"
    return f"the mean of all agents has 1,000 points, because {table['anchor']} has not played"


def ratings_figure(table: Mapping[str, Any], names: Sequence[str], *, clusters: str = "walls") -> Figure:
    """Return the ratings with their intervals; ``clusters``: what was drawn for them."""
    rows: Sequence[Row] = table["agents"]
    scale = rating_scale(table)
    lines = [
        Line(name=name, value=row["rating"], low=low, high=high, colour=_PART_COLOURS[_part(row)], note=_note(row))
        for name, row in zip(names, rows, strict=True)
        for low, high in (row["interval"] or (None, None),)
    ]
    note = (
        f"{scale[0].upper() + scale[1:]}. 100 points more than another agent: "
        "comes before it in 64 of 100 games. "
        f"95 % intervals by bootstrap over {clusters}: about 1 in 20 misses the true value."
    )
    picture = interval_chart(lines, "Ratings of the agents", axis_title="rating")
    return Figure(picture, "Ratings", note, _rating_legend(rows))


def _note(row: Row) -> str:
    """Return a rating with its interval, if there is one."""
    return f"{number(row['rating'])} ({interval(row['interval'], 0)})" if row["interval"] else number(row["rating"])


def nights_section(table: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return the ratings as they were published night by night; empty in the first night."""
    nights = table["nights"]
    if len(nights) < 2:
        return ""
    links = " · ".join(map(_night_link, nights[:-1]))
    return report_page.figure(*nights_figure(table, names)) + f"<p>Earlier nights: {links}</p>\n"


def nights_figure(table: Mapping[str, Any], names: Sequence[str]) -> Figure:
    """Return the ratings of the strongest agents night by night; without a picture if there is no night."""
    nights, title = table["nights"], "Ratings over the nights"
    if not nights:
        return Figure("", title)
    curves = _night_curves(table, names)
    note = f"From {nights[0]['night']} to {nights[-1]['night']}. Each rating is from the games until then."
    return curve_figure(title, curves, note, has_legend=True, x_title="night")


def _night_curves(table: Mapping[str, Any], names: Sequence[str]) -> list[Curve]:
    """Return a curve for each of the strongest agents."""
    curves = []
    for colour, (name, row) in enumerate(zip(names[:MOST_LINES], table["agents"], strict=False)):
        known = [(index, night["ratings"][row["digest"]]) for index, night in enumerate(table["nights"], 1)
                 if row["digest"] in night["ratings"]]  # fmt: skip
        points = [(float(index), rating) for index, (rating, _, _) in known]
        bounds = [(rating, rating) if low is None else (low, high) for _, (rating, low, high) in known]
        curves.append(Curve(name=name, points=points, intervals=bounds, colour=colour, has_dots=True))
    return curves


def _night_link(night: Row) -> str:
    address = report_page.escape(f"../../{night['run']}/report/report.html")
    return f'<a href="{address}">{report_page.escape(night["night"])}</a>'


def pairings_figure(table: Mapping[str, Any], names: Sequence[str]) -> Figure:
    """Return how often each agent came before each other one in the games of all nights."""
    title = "Who comes before whom"
    note = "How many of 100 common games the agent of the row came before that of the column, in all nights."
    legend = [("k2", "before more often"), ("k1", "behind more often")]
    return Figure(pairing_chart(table["pairings"], names, title), title, note, legend)


def titled(rows: Sequence[Row], names: Sequence[str]) -> list[report_page.Titled]:
    """Return short names with their part in the tournament; the mouse shows the full name."""
    return [
        report_page.Titled(f"{name} ({part})" if (part := _part(row)) else name, row["name"])
        for row, name in zip(rows, names, strict=True)
    ]


def _part(row: Row) -> str:
    return "champion" if row.get("is_champion") else "candidate" if row.get("is_candidate") else ""


def _rating_legend(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Return a key for the parts that agents of this tournament have; none where nobody has one."""
    parts = {_part(row) for row in rows}
    return (
        [(f"k{colour}", part or "others") for part, colour in _PART_COLOURS.items() if part in parts]
        if parts - {""}
        else []
    )
