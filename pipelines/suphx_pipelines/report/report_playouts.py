"""The report's section on learning from playouts: what the nets gain on decisions that they have not learned from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suphx.models.nets.net_config import HEAD_NAMES
from suphx_pipelines.charts.line_chart import Curve, curve_of, line_chart
from suphx_pipelines.charts.plot import Figure
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_page import decimal, difference, duration, interval, number

Result = Mapping[str, Any]
_STANDARD_ERRORS = 1.96
_ABOUT = (
    "At uncertain decisions of self-play, several actions were tried: from each, the deal was played on with the same "
    "hidden tiles. The nets learned to prefer the actions that win more points. Gain: points per decision of the nets "
    "minus those of the nets at the start, each weighted by its probabilities, in deals of which they had not "
    "learned from any decision yet."
)


def section(result: Result) -> str:
    """Return the section; empty without a result."""
    if not result:
        return ""
    body = report_page.paragraph(_ABOUT)
    body += report_page.tiles(
        [
            (number(result["decisions"]), "decisions played out"),
            (duration(result["seconds"]), "of playing and learning"),
        ]
    )
    body += report_page.side_by_side(
        _table(result), *(report_page.figure(*each) for each in gain_figures(result).values())
    )
    return body + _distance_chart(result)


def _heads(result: Result) -> list[str]:
    history = result.get("history", ())
    return [head for head in HEAD_NAMES if any(f"{head}_gain" in point for point in history)]


def _table(result: Result) -> str:
    rows = []
    for head in _heads(result):
        last = [point for point in result["history"] if f"{head}_gain" in point][-1]
        count = sum(point.get(f"{head}_decisions", 0) for point in result["history"])
        low, high = _interval(last, head)
        rows.append(
            (head, number(count), difference(last[f"{head}_gain"], 1), interval([low, high], 1),
             decimal(last[f"{head}_kl_to_start"], 3))
        )  # fmt: skip
    columns = ("net", "decisions", "last gain in points", "95 % interval", "KL to the start (nats)")
    return f"<div>{report_page.table(columns, rows)}</div>"


def _interval(point: Mapping[str, float], head: str) -> tuple[float, float]:
    gain, error = point[f"{head}_gain"], _STANDARD_ERRORS * point[f"{head}_gain_error"]
    return gain - error, gain + error


def gain_figures(result: Result) -> dict[str, Figure]:
    """Return by head what its net has gained, over the decisions; empty without playouts."""
    return {head: _gain_figure(result, head) for head in _heads(result)}


def _gain_figure(result: Result, head: str) -> Figure:
    points = [point for point in result["history"] if f"{head}_gain" in point]
    curve = Curve(
        name=head,
        points=[(float(point["decisions"]), float(point[f"{head}_gain"])) for point in points],
        has_dots=True,
        intervals=[_interval(point, head) for point in points],
    )
    title = f"Gain of the {head} net (points per decision)"
    picture = line_chart([curve], title, x_title="decisions", levels=(0.0,))
    return Figure(
        picture,
        title,
        (
            "With 95 % intervals, computed over deals, because decisions of one deal share its tiles. Above zero: the "
            "net became stronger."
        ),
    )


def _distance_chart(result: Result) -> str:
    curves = [
        curve_of(head, result["history"], "decisions", f"{head}_kl_to_start", place)
        for place, head in enumerate(_heads(result))
    ]
    title = "Distance from the start (nats)"
    picture = line_chart(curves, title, x_title="decisions", least=0.0)
    legend = [(f"k{curve.colour}", curve.name) for curve in curves if curve.is_shown]
    return report_page.figure(picture, title, "KL divergence of the initial policy from the policy.", legend)
