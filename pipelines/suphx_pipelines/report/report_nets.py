"""The report's sections on the five nets: accuracy, curves, calibration, and which tiles the discard net confuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suphx.games.head_game import head_game
from suphx_pipelines.charts.heat_chart import heat_chart
from suphx_pipelines.charts.line_chart import Curve, curve_of, line_chart, reliability_chart
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_number import decimal, number, percent

Nets = Mapping[str, Mapping[str, Any]]
"""``metrics.json`` by head."""

# Paper, Table 3: training samples in millions, test accuracy, accuracy of the earlier work that the paper cites.
PAPER_TABLE_3: dict[str, tuple[int, float, float | None]] = {
    "discard": (15, 0.767, 0.688),
    "riichi": (5, 0.857, None),
    "chow": (10, 0.950, 0.904),
    "pong": (10, 0.919, 0.882),
    "kong": (4, 0.940, None),
}
_SUITS = (9, 18, 27)


def accuracies(nets: Nets, *, is_played: bool) -> str:
    """Return the table of test accuracies; beside the paper's where the records are real ones."""
    if not nets:
        return ""
    if is_played:
        text = (
            "The nets learned from games that an agent played against itself. Their accuracy is how often they "
            "make the same decision as that agent, in games that they have not seen. It cannot be compared with the "
            "paper's nets, which learned from strong human players."
        )
        paper: tuple[str, ...] = ()
    else:
        text = (
            "How often each net makes the same decision as the player in the record, in games that it has not seen, "
            "next to Table 3 of the paper (training samples in brackets) and the earlier work that the paper cites."
        )
        paper = ("paper", "earlier work")
    columns = (
        "net",
        "ours",
        "most frequent answer",
        *paper,
        "balanced accuracy",
        "yes answers found",
        "test samples",
        "samples learned",
        "games",
    )
    rows = [_accuracy_row(head, metrics, has_paper=not is_played) for head, metrics in nets.items()]
    note = (
        "Most frequent answer: the accuracy of a net that always gives it; only what is above has been learned. "
        "Balanced accuracy is the mean of the accuracies for yes and for no: a net that always answers no has 50 %. "
        "Yes answers found: the share of the yes answers in the records that the net also gives."
    )
    return report_page.paragraph(text) + report_page.table(columns, rows, about=note)


def _accuracy_row(head: str, metrics: Mapping[str, Any], *, has_paper: bool) -> list[str]:
    millions, accuracy, previous = PAPER_TABLE_3[head]
    test = metrics["test"]
    row = [head, percent(test.get("accuracy")), percent(test.get("majority_accuracy"))]
    if has_paper:
        row += [f"{percent(accuracy)} ({millions}M)", percent(previous)]
    row += [percent(test.get(key)) for key in ("balanced_accuracy", "recall_yes")]
    learned = metrics["history"][-1].get("samples") if metrics["history"] else None
    return row + [number(count) for count in (test.get("samples"), learned, metrics.get("train_games"))]


def learning(nets: Nets, curves: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return loss, validation accuracy and calibration of each net; ``curves``: points of the training by head."""
    if not nets:
        return ""
    body = report_page.paragraph(
        "Loss of the training (thin: as measured, thick: smoothed) and of validation samples; validation accuracy; "
        "and the accuracy by confidence (large dots: many samples; on the dashed line the accuracy equals the "
        "confidence)."
    )
    for head, metrics in nets.items():
        history = metrics["history"]
        seconds = history[-1].get("seconds") if history else None
        steps = history[-1]["step"] if history else 0
        about = f"{number(metrics.get('num_weights'))} weights, {number(steps)} steps in {number(seconds)} s"
        body += report_page.heading(head) + report_page.paragraph(about, is_soft=True)
        body += report_page.side_by_side(*_pictures(head, metrics, curves.get(head, ())))
    return body


def _pictures(head: str, metrics: Mapping[str, Any], points: Sequence[Mapping[str, Any]]) -> list[str]:
    history, test = metrics["history"], metrics["test"]
    known = points if len(points) >= len(history) else history  # a short training has more validations than reports
    trained = curve_of("training", known, "step", "train_loss", is_smoothed=True)
    losses = [trained, curve_of("validation", history, "step", "validation_loss", 1, has_dots=True)]
    shown = [curve for curve in losses if curve.is_shown]
    right = curve_of("validation", history, "step", "validation_accuracy", 2, has_dots=True)
    loss = line_chart(losses, f"Loss of the {head} net over its training", x_title="step", least=0.0)
    accuracy = line_chart(
        [right], f"Validation accuracy of the {head} net", x_title="step", y_unit="percent", least=0.0, most=1.0
    )
    bins = reliability_chart(test.get("calibration") or [], f"Calibration of the {head} net", x_title="confidence")
    error = f"mean gap {percent(test.get('ece'))}, before calibration"
    return [
        report_page.figure(loss, "Loss", legend=_legend(shown)),
        report_page.figure(accuracy, "Validation accuracy"),
        report_page.figure(bins, "How often it is right", error),
    ]


def _legend(curves: Sequence[Curve]) -> list[tuple[str, str]]:
    return [(f"k{curve.colour}", curve.name) for curve in curves]


def calibration(nets: Nets) -> str:
    """Return what calibration and the threshold of yes change."""
    fits = {head: (metrics["test"], metrics["calibrated"]) for head, metrics in nets.items()
            if metrics.get("calibrated")}  # fmt: skip
    if not fits:
        return ""
    body = report_page.paragraph(
        "The accuracy of a calibrated net equals its confidence. One number for each net, its temperature, is fitted "
        "on validation samples; the figures are those of test samples."
    )
    columns = ("net", "calibration error", "temperature", "error after calibration", "loss", "loss after calibration")
    rows = [
        (head, percent(test.get("ece")), decimal(fit["temperature"], 2), percent(fit["ece"]),
         decimal(test.get("loss"), 3), decimal(fit["loss"], 3)) for head, (test, fit) in fits.items()
    ]  # fmt: skip
    about = "The calibration error is the mean gap between confidence and accuracy."
    body += report_page.table(columns, rows, about=about) + _thresholds(fits)
    return body + _reliability(fits)


def _thresholds(fits: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]) -> str:
    columns = ("net", "positive rate in the records", "positive rate above one half", "threshold",
               "positive rate at threshold", "accuracy above one half", "accuracy at threshold")  # fmt: skip
    rows = [
        (head, percent(fit["yes"]), percent(fit["yes_probable"]), decimal(fit["yes_threshold"], 2),
         percent(fit["yes_matched"]), percent(test.get("accuracy")), percent(fit["accuracy_matched"]))
        for head, (test, fit) in fits.items() if "yes_threshold" in fit
    ]  # fmt: skip
    about = (
        "Nets that answer yes or no. Positive rate: how often the answer is yes. At the threshold a net answers yes as "
        "often as the records do (evaluation.action_selection = matched)."
    )
    return report_page.table(columns, rows, about=about) if rows else ""


def _reliability(fits: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]) -> str:
    """Return, folded, the confidence of each net after calibration and its accuracy."""
    columns = ("net", "how sure it is", "how often it is right", "samples")
    rows = [
        (head, percent(confidence), percent(accuracy), number(count))
        for head, (_, fit) in fits.items()
        for confidence, accuracy, count in fit["calibration"]
    ]
    return report_page.folded("Calibration group by group", report_page.table(columns, rows))


def confusion(discard: Mapping[str, Any]) -> str:
    """Return which tiles the discard net chooses where the record has another one."""
    counts = discard.get("test", {}).get("confusion")
    if not counts:
        return ""
    names = next(head.outputs for head in head_game().heads if head.name == "discard")
    right = sum(counts[kind][kind] for kind in range(len(names))) / (sum(map(sum, counts)) or 1)
    text = (
        f"Each row shows what the net discards when the player in the record discards that tile. The diagonal, "
        f"{percent(right)} of all, is where both agree. m: characters, p: circles, s: bamboo, z: winds and dragons."
    )
    picture = heat_chart(counts, names, "Discards of the net against those of the record", breaks=_SUITS)
    title = "The stronger the colour, the larger the share of the row"
    return report_page.paragraph(text) + report_page.figure(picture, title, is_large=True)
