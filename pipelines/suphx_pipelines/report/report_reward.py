"""The report's section on the reward predictor; the keys that it reads are in reward_predictor.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suphx.evaluation.match_config import widened_note
from suphx_pipelines.charts.line_chart import Curve, curve_of, line_chart, reliability_chart
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_page import difference, interval, number, percent
from suphx_pipelines.report.report_riichi_game import deal_names
from suphx_platform.console.table_text import count_text

_PREDICTORS = {
    "net": "the net",
    "mean": "mean of all places",
    "place_now": "as if the game ended now",
    "place_and_kyoku": "mean of this place before this deal",
}


def section(result: Mapping[str, Any]) -> str:
    """Return the section; empty without a result."""
    if not result:
        return ""
    games, test = result["games"], result["test"]
    points = ", ".join(number(value) for value in result["points"])
    body = report_page.paragraph(
        "After each deal, the reward predictor predicts the final reward of the whole game. " + _finding(test)
    )
    body += report_page.paragraph(
        f"First to fourth place pay {points} points. Learned from {number(games['train'])} hanchans, tested on "
        f"{number(games['test'])} others; {number(games['left_out'])} games of another length, or without an end, were "
        f"skipped. {number(result['num_weights'])} weights.",
        is_soft=True,
    )
    columns = ("predictor", "loss (equation 4)", "the net's loss is lower by", "difference", "95 % interval")
    rows = [
        (_PREDICTORS[name], number(figures["loss"]), percent(figures.get("margin")),
         difference(figures.get("difference"), 0), interval(figures.get("interval"), 0))
        for name, figures in test.items()
    ]  # fmt: skip
    about = "Mean squared error in points, over all prefixes of the test games; intervals by bootstrap over games."
    body += report_page.table(columns, rows, about=about) + report_page.side_by_side(*_charts(result))
    sums = result["sums"]
    body += report_page.paragraph(
        f"The four seats of a table are predicted one by one: their sum deviates by {difference(sums['mean'], 1)} "
        f"points on average, and by {number(sums['mean_absolute'])} points regardless of sign.",
        is_soft=True,
    )
    examples = [_example(game, place) for place, game in enumerate(result["examples"], 1)]
    return body + report_page.heading("Test games") + report_page.side_by_side(*examples)


def _finding(test: Mapping[str, Any]) -> str:
    parts = []
    for name, figures in test.items():
        if figures.get("interval"):
            low, high = figures["interval"]
            how = "below" if high < 0 else "above" if low > 0 else "not clearly different from"
            margin = f"{percent(abs(figures['margin']))} " if how in ("below", "above") else ""
            widened = widened_note(figures.get("is_widened", False), "test games")
            parts.append(f"{margin}{how} that of “{_PREDICTORS[name]}”{widened}")
    return f"Its loss on test games is {', '.join(parts)}." if parts else ""


def _charts(result: Mapping[str, Any]) -> list[str]:
    history = result["history"]
    curves = [curve_of("training", history, "step", "train_loss", 0, has_dots=True),
              curve_of("validation", history, "step", "validation_loss", 1, has_dots=True)]  # fmt: skip
    loss = line_chart(curves, "Loss of the reward predictor", x_title="step")
    groups = reliability_chart(
        result["calibration"], "Predicted and paid points", x_title="predicted points", unit="number"
    )
    legend = [(f"k{curve.colour}", curve.name) for curve in curves]
    return [
        report_page.figure(loss, "Loss after each epoch", legend=legend),
        report_page.figure(groups, "Points paid by points predicted", "Ten groups of equal size; dashed: exact."),
    ]


def _example(game: Mapping[str, Any], place: int) -> str:
    """Return the picture of one game: what was predicted for each seat before each deal, and what was paid."""
    names = deal_names(game["kyoku"], game["honba"])
    curves = []
    for seat in range(4):
        points = [(deal + 1.0, float(line[seat])) for deal, line in enumerate(game["predictions"])]
        points.append((len(game["predictions"]) + 1.0, float(game["paid"][seat])))
        curves.append(Curve(name=f"seat {seat}", points=points, colour=seat, has_dots=True))
    final = ", ".join(number(score) for score in game["scores"][-1])
    title = f"Game {place}: points predicted before each deal"
    picture = line_chart(curves, title, x_title="deal; the last dots are the actual reward")
    note = f"{count_text(len(names), 'deal')} from {names[0]} to {names[-1]}; final scores {final}."
    return report_page.figure(picture, title, note, [(f"k{curve.colour}", curve.name) for curve in curves])
