"""The report's sections that compare nets: the effect of more games, and of the input planes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suphx_pipelines.charts.interval_chart import Row, interval_chart
from suphx_pipelines.charts.line_chart import Curve, line_chart
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_nets import PAPER_TABLE_3
from suphx_pipelines.report.report_number import difference, interval, number, percent


def curve(curves: Mapping[str, Sequence[Mapping[str, Any]]], *, is_played: bool) -> str:
    """Return the accuracy of each net by the number of games that it learned from; empty without any.

    Beside the paper's where the records are real ones: ``is_played`` games are those of an agent.
    """
    if not curves:
        return ""
    sizes = sorted({point["games"] for points in curves.values() for point in points})
    paper: tuple[str, ...] = () if is_played else ("paper",)
    columns = ("net", *(f"{number(games)} games" for games in sizes), "most frequent answer", *paper)
    lines, rows, gains = [], [], []
    for colour, (head, points) in enumerate(curves.items()):
        accuracies = {point["games"]: point["accuracy"] for point in points if point["accuracy"] is not None}
        rows.append(
            (head, *(percent(accuracies.get(games)) for games in sizes), percent(points[-1].get("majority_accuracy")),
             *(percent(PAPER_TABLE_3[head][1]) for _ in paper))
        )  # fmt: skip
        lines.append(Curve(name=head, points=sorted(accuracies.items()), colour=colour, has_dots=True))
        if len(accuracies) > 1:
            gains.append(f"{head} {difference(100 * (accuracies[max(accuracies)] - accuracies[min(accuracies)]), 1)}")
    text = (
        f"The same nets, trained with equal settings on {number(sizes[0])} up to {number(sizes[-1])} games. "
        f"More games change the test accuracy, in percentage points, by: {', '.join(gains) or '–'}."
    )
    title = "Test accuracy by training games"
    picture = line_chart(lines, title, x_title="training games", y_unit="percent", most=1.0, is_log=True)
    legend = [(f"k{line.colour}", line.name) for line in lines if line.is_shown]
    chart = report_page.figure(picture, title, legend=legend)
    of_paper = "" if is_played else " The paper's nets learned from 4 to 15 million samples."
    table = report_page.table(columns, rows, about=f"Test accuracy.{of_paper}")
    return report_page.paragraph(text) + report_page.side_by_side(chart, f"<div>{table}</div>")


def ablation(heads: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the accuracy of equal nets that see different planes; empty without any."""
    columns = ("planes", "number", "samples learned", "accuracy, by seed", "difference", "95 % interval")
    body = ""
    for head, result in heads.items():
        first, *others = result["encoders"]
        rows = [
            (entry["encoder"], number(entry["planes"]), number(entry["trained_samples"]),
             ", ".join(percent(accuracy) for accuracy in entry["accuracies"]),
             *(("–", "–") if entry is first else (_points(entry["difference"]), _interval(entry["interval"]))))
            for entry in result["encoders"]
        ]  # fmt: skip
        found = "; ".join(_finding(entry, first["encoder"]) for entry in others)
        body += report_page.heading(head) + report_page.paragraph(
            f"Equal {head} nets that see different planes, {len(first['accuracies'])} for each encoder. "
            f"Of these nets, {found}."
        )
        chart = report_page.figure(
            interval_chart(
                [_row(entry) for entry in others],
                f"Differences in accuracy of the {head} net",
                axis_title=f"percentage points against {first['encoder']}",
                zero=0.0,
                sides=("worse", "better"),
            ),
            "Difference in test accuracy",
        )
        about = (
            f"The same games and the same {number(result['samples'])} test samples of {number(result['games'])} games. "
            "Difference in percentage points: mean over seeds, interval by bootstrap over test games, for these "
            "nets: how much nets of other seeds differ is not in it."
        )
        body += chart + report_page.table(columns, rows, about=about)
    return body


def _finding(entry: Mapping[str, Any], first: str) -> str:
    low, high = entry["interval"]
    how = "more accurate than" if low > 0 else "less accurate than" if high < 0 else ""
    if not how or not entry.get("is_significant", True):  # earlier versions did not store it
        how = "not clearly different from"
    points = f"{_points(entry['difference'])} percentage points"
    return f"those with {entry['encoder']} are {how} those with {first} ({points})"


def _row(entry: Mapping[str, Any]) -> Row:
    low, high = (100 * end for end in entry["interval"])
    note = f"{_points(entry['difference'])} ({interval((low, high))})"
    return Row(name=entry["encoder"], value=100 * entry["difference"], low=low, high=high, note=note)


def _points(share: float) -> str:
    return difference(100 * share, 2)


def _interval(bounds: Sequence[float]) -> str:
    return interval([100 * bound for bound in bounds])
