"""What the leaderboards of all games show alike: ratings with intervals, the nights so far, who comes before whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suphx_pipelines.charts.comparison_charts import Row as Line
from suphx_pipelines.charts.comparison_charts import interval_chart, pairing_chart
from suphx_pipelines.charts.line_chart import Curve, line_chart
from suphx_pipelines.charts.plot import Figure
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_page import interval, number

Row = Mapping[str, Any]
MOST_LINES = 6
"""Agents in a chart with a colour for each."""
_PART_COLOURS = {"champion": 1, "candidate": 2, "": 0}


def rating_scale(table: Mapping[str, Any]) -> str:
    """Return who has 1,000 points: the anchor, or without a game of it the mean of all agents."""
    if table.get("is_anchored", True):  # of a night that an earlier version has played
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


def nights_section(table: Mapping[str, Any], names: Sequence[str], *, has_links: bool) -> str:
    """Return the ratings as they were published night by night; empty in the first night."""
    nights = table["nights"]
    if len(nights) < 2:
        return ""
    shown = [_night_link(night) if has_links else report_page.escape(night["night"]) for night in nights[:-1]]
    where = "" if has_links else ". The description of this run in MLflow has links to their reports."
    return report_page.figure(*nights_figure(table, names)) + f"<p>Earlier nights: {' · '.join(shown)}{where}</p>\n"


def nights_figure(table: Mapping[str, Any], names: Sequence[str]) -> Figure:
    """Return the ratings of the strongest agents night by night; without a picture if there is no night."""
    nights, title = table["nights"], "Ratings over the nights"
    if not nights:
        return Figure("", title)
    curves = _night_curves(table, names)
    legend = [(f"k{curve.colour}", curve.name) for curve in curves if curve.is_shown]
    note = f"From {nights[0]['night']} to {nights[-1]['night']}. Each rating is from the games until then."
    return Figure(line_chart(curves, title, x_title="night"), title, note, legend)


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
