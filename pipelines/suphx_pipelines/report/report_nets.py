"""What the report shows of learning: from records, from playouts, and of the reward predictor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from suphx.evaluation.match_config import widened_note
from suphx.games.riichi.records.decisions import kyoku_name
from suphx_pipelines.charts.comparison_charts import heat_chart
from suphx_pipelines.charts.line_chart import Curve, curve_figure, curve_of, reliability_chart
from suphx_pipelines.charts.plot import Figure
from suphx_pipelines.report.report_page import decimal, difference, interval, number, percent
from suphx_pipelines.runs.verdict import digits_that_tell
from suphx_platform.console.table_text import count_text

Result = Mapping[str, Any]
Points = Sequence[Mapping[str, Any]]


class PaperNet(NamedTuple):
    """A row of the paper's Table 3."""

    millions: int
    """Of training samples."""
    accuracy: float
    earlier: float | None
    """Accuracy of the earlier work that the paper cites."""


PAPER_TABLE_3 = {
    "discard": PaperNet(15, 0.767, 0.688),
    "riichi": PaperNet(5, 0.857, None),
    "chow": PaperNet(10, 0.950, 0.904),
    "pong": PaperNet(10, 0.919, 0.882),
    "kong": PaperNet(4, 0.940, None),
}
_SUITS = (9, 18, 27)
_LETTERS = {
    **{"m": "characters", "p": "circles", "s": "bamboo", "z": "winds and dragons"},
    **{"W": "characters", "B": "circles", "T": "bamboo", "F": "winds", "J": "dragons"},
}


def training_figures(head: str, metrics: Result) -> list[Figure]:
    """Return loss, validation accuracy and calibration of a net."""
    history, test = metrics["history"], metrics["test"]
    losses = [
        curve_of("training", history, "step", "train_loss", is_smoothed=True),
        curve_of("validation", history, "step", "validation_loss", 1, has_dots=True),
    ]
    right = curve_of("validation", history, "step", "validation_accuracy", 2, has_dots=True)
    percents: dict[str, Any] = {"label": f"Validation accuracy of the {head} net", "y_unit": "percent", "most": 1.0}
    bins = reliability_chart(test.get("calibration") or [], f"Calibration of the {head} net", x_title="confidence")
    error = f"mean gap {percent(test.get('ece'))}, before calibration"
    return [
        curve_figure("Loss", losses, label=f"Loss of the {head} net over its training", x_title="step", least=0.0),
        curve_figure("Validation accuracy", [right], x_title="step", least=0.0, **percents),
        Figure(bins, "How often it is right", error),
    ]


def agreement(confusion: Sequence[Sequence[int]]) -> float:
    """Return the share of the decisions in which the net chooses what the record has."""
    return sum(row[kind] for kind, row in enumerate(confusion)) / (sum(map(sum, confusion)) or 1)


def confusion_figure(confusion: Sequence[Sequence[int]], names: Sequence[str]) -> Figure:
    """Return which tiles, called ``names``, the net discards where the record has another one."""
    label = "Discards of the net against those of the record"
    title = "The stronger the colour, the larger the share of the row"
    return Figure(heat_chart(confusion, names, label, breaks=_SUITS), title)


def tile_letters(names: Sequence[str]) -> str:
    """Return what the letters in the names of tiles mean."""
    letters = dict.fromkeys(letter for name in names for letter in name if letter.isalpha())
    return ", ".join(f"{letter}: {_LETTERS[letter]}" for letter in letters if letter in _LETTERS)


_STANDARD_ERRORS = 1.96


def _playout_heads(result: Result) -> list[str]:
    names = dict.fromkeys(name for point in result.get("history", ()) for name in point)
    return [name.removesuffix("_gain") for name in names if name.endswith("_gain")]


def playout_rows(result: Result) -> list[list[str]]:
    """Return decisions, last gain and distance of each net that learned from playouts."""
    rows = []
    for head in _playout_heads(result):
        last = [point for point in result["history"] if f"{head}_gain" in point][-1]
        count = sum(point.get(f"{head}_decisions", 0) for point in result["history"])
        bounds = _gain_interval(last, head)
        gain = difference(last[f"{head}_gain"], digits_that_tell(bounds, 1))
        rows.append([head, number(count), gain, interval(bounds, 1), decimal(last[f"{head}_kl_to_start"], 3)])
    return rows


def _gain_interval(point: Mapping[str, float], head: str) -> tuple[float, float]:
    gain, error = point[f"{head}_gain"], _STANDARD_ERRORS * point[f"{head}_gain_error"]
    return gain - error, gain + error


def gain_figures(result: Result) -> dict[str, Figure]:
    """Return by head what its net has gained, over the decisions; empty without playouts."""
    note = (
        "With 95 % intervals, computed over deals, because decisions of one deal share its tiles. Above zero: the net "
        "became stronger."
    )
    figures = {}
    for head in _playout_heads(result):
        known = [point for point in result["history"] if f"{head}_gain" in point]
        gains = [(float(point["decisions"]), float(point[f"{head}_gain"])) for point in known]
        bounds = [_gain_interval(point, head) for point in known]
        curve = Curve(name=head, points=gains, has_dots=True, intervals=bounds)
        title = f"Gain of the {head} net (points per decision)"
        figures[head] = curve_figure(title, [curve], note, x_title="decisions", levels=(0.0,))
    return figures


def distance_figure(result: Result) -> Figure:
    """Return how far the nets went from the policy with which the playouts began."""
    curves = [
        curve_of(head, result["history"], "decisions", f"{head}_kl_to_start", place)
        for place, head in enumerate(_playout_heads(result))
    ]
    title, note = "Distance from the start (nats)", "KL divergence of the initial policy from the policy."
    return curve_figure(title, curves, note, has_legend=True, x_title="decisions", least=0.0)


PREDICTORS = {
    "net": "the net",
    "mean": "mean of all places",
    "place_now": "as if the game ended now",
    "place_and_kyoku": "mean of this place before this deal",
}


def reward_finding(test: Mapping[str, Any]) -> str:
    """Return in words how the loss of the reward predictor compares with those of simple predictions."""
    parts = []
    for name, figures in test.items():
        if figures.get("interval"):
            low, high = figures["interval"]
            how = "below" if high < 0 else "above" if low > 0 else "not clearly different from"
            margin = f"{percent(abs(figures['margin']))} " if how in ("below", "above") else ""
            widened = widened_note(figures.get("is_widened", False), "test games")
            parts.append(f"{margin}{how} that of “{PREDICTORS[name]}”{widened}")
    return f"Its loss on test games is {', '.join(parts)}." if parts else ""


def reward_figures(result: Result) -> list[Figure]:
    """Return the losses of the reward predictor, and what was paid against what it predicted."""
    losses = [
        curve_of("training", result["history"], "step", "train_loss", 0, has_dots=True),
        curve_of("validation", result["history"], "step", "validation_loss", 1, has_dots=True),
    ]
    label, x_title = "Predicted and paid points", "predicted points"
    groups = reliability_chart(result["calibration"], label, x_title=x_title, unit="number")
    return [
        curve_figure("Loss after each epoch", losses, label="Loss of the reward predictor", x_title="step"),
        Figure(groups, "Points paid by points predicted", "Ten groups of equal size; dashed: exact."),
    ]


def example_figures(examples: Sequence[Mapping[str, Any]]) -> list[Figure]:
    """Return games: what was predicted for each seat before each deal, and what was paid."""
    figures = []
    for place, game in enumerate(examples, 1):
        names = list(map(kyoku_name, game["kyoku"], game["honba"]))
        by_seat = zip(*game["predictions"], game["paid"], strict=True)
        lines = [[(deal, float(value)) for deal, value in enumerate(values, 1)] for values in by_seat]
        curves = [
            Curve(name=f"seat {seat}", points=line, colour=seat, has_dots=True) for seat, line in enumerate(lines)
        ]
        final = ", ".join(number(score) for score in game["scores"][-1])
        title = f"Game {place}: points predicted before each deal"
        note = f"{count_text(len(names), 'deal')} from {names[0]} to {names[-1]}; final scores {final}."
        figures.append(curve_figure(title, curves, note, x_title="deal; the last dots are the actual reward"))
    return figures
