"""The report's sections on what nets learned: from records, from playouts, and the reward predictor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suphx.evaluation.match_config import widened_note
from suphx.games.registry import decision_names, find_decisions
from suphx.games.riichi.records.decisions import kyoku_name
from suphx_pipelines.charts.comparison_charts import Row, heat_chart, interval_chart
from suphx_pipelines.charts.line_chart import Curve, curve_figure, curve_of, reliability_chart
from suphx_pipelines.charts.plot import Figure
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_page import decimal, difference, duration, interval, number, percent
from suphx_platform.console.table_text import count_text

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
    right = curve_of("validation", history, "step", "validation_accuracy", 2, has_dots=True)
    label = f"Loss of the {head} net over its training"
    loss = curve_figure("Loss", losses, label=label, x_title="step", least=0.0)
    label = f"Validation accuracy of the {head} net"
    accuracy = curve_figure(
        "Validation accuracy", [right], label=label, x_title="step", y_unit="percent", least=0.0, most=1.0
    )  # fmt: skip
    bins = reliability_chart(test.get("calibration") or [], f"Calibration of the {head} net", x_title="confidence")
    error = f"mean gap {percent(test.get('ece'))}, before calibration"
    return [
        report_page.figure(*loss),
        report_page.figure(*accuracy),
        report_page.figure(bins, "How often it is right", error),
    ]


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
    names = find_decisions()[0].outputs
    right = sum(counts[kind][kind] for kind in range(len(names))) / (sum(map(sum, counts)) or 1)
    text = (
        f"Each row shows what the net discards when the player in the record discards that tile. The diagonal, "
        f"{percent(right)} of all, is where both agree. m: characters, p: circles, s: bamboo, z: winds and dragons."
    )
    picture = heat_chart(counts, names, "Discards of the net against those of the record", breaks=_SUITS)
    title = "The stronger the colour, the larger the share of the row"
    return report_page.paragraph(text) + report_page.figure(picture, title, is_large=True)


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
    axes: dict[str, Any] = {"x_title": "training games", "y_unit": "percent", "most": 1.0, "is_log": True}
    chart = report_page.figure(*curve_figure("Test accuracy by training games", lines, has_legend=True, **axes))
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
    widened = widened_note(entry.get("is_widened", False), "test games")
    return f"those with {entry['encoder']} are {how} those with {first} ({points}{widened})"


def _row(entry: Mapping[str, Any]) -> Row:
    low, high = (100 * end for end in entry["interval"])
    note = f"{_points(entry['difference'])} ({interval((low, high))})"
    return Row(name=entry["encoder"], value=100 * entry["difference"], low=low, high=high, note=note)


def _points(share: float) -> str:
    return difference(100 * share, 2)


def _interval(bounds: Sequence[float]) -> str:
    return interval([100 * bound for bound in bounds])


Result = Mapping[str, Any]
_STANDARD_ERRORS = 1.96
_ABOUT_PLAYOUTS = (
    "At uncertain decisions of self-play, several actions were tried: from each, the deal was played on with the same "
    "hidden tiles. The nets learned to prefer the actions that win more points. Gain: points per decision of the nets "
    "minus those of the nets at the start, each weighted by its probabilities, in deals of which they had not "
    "learned from any decision yet."
)


def playouts_section(result: Result) -> str:
    """Return the section; empty without a result."""
    if not result:
        return ""
    body = report_page.paragraph(_ABOUT_PLAYOUTS)
    body += report_page.tiles(
        [
            (number(result["decisions"]), "decisions played out"),
            (duration(result["seconds"]), "of playing and learning"),
        ]
    )
    body += report_page.side_by_side(
        _playout_table(result), *(report_page.figure(*each) for each in gain_figures(result).values())
    )
    return body + _distance_chart(result)


def _playout_heads(result: Result) -> list[str]:
    history = result.get("history", ())
    return [head for head in decision_names() if any(f"{head}_gain" in point for point in history)]


def _playout_table(result: Result) -> str:
    rows = []
    for head in _playout_heads(result):
        last = [point for point in result["history"] if f"{head}_gain" in point][-1]
        count = sum(point.get(f"{head}_decisions", 0) for point in result["history"])
        low, high = _gain_interval(last, head)
        rows.append(
            (head, number(count), difference(last[f"{head}_gain"], 1), interval([low, high], 1),
             decimal(last[f"{head}_kl_to_start"], 3))
        )  # fmt: skip
    columns = ("net", "decisions", "last gain in points", "95 % interval", "KL to the start (nats)")
    return f"<div>{report_page.table(columns, rows)}</div>"


def _gain_interval(point: Mapping[str, float], head: str) -> tuple[float, float]:
    gain, error = point[f"{head}_gain"], _STANDARD_ERRORS * point[f"{head}_gain_error"]
    return gain - error, gain + error


def gain_figures(result: Result) -> dict[str, Figure]:
    """Return by head what its net has gained, over the decisions; empty without playouts."""
    return {head: _gain_figure(result, head) for head in _playout_heads(result)}


def _gain_figure(result: Result, head: str) -> Figure:
    points = [point for point in result["history"] if f"{head}_gain" in point]
    curve = Curve(
        name=head,
        points=[(float(point["decisions"]), float(point[f"{head}_gain"])) for point in points],
        has_dots=True,
        intervals=[_gain_interval(point, head) for point in points],
    )
    title = f"Gain of the {head} net (points per decision)"
    note = (
        "With 95 % intervals, computed over deals, because decisions of one deal share its tiles. Above zero: the net "
        "became stronger."
    )
    return curve_figure(title, [curve], note, x_title="decisions", levels=(0.0,))


def _distance_chart(result: Result) -> str:
    curves = [
        curve_of(head, result["history"], "decisions", f"{head}_kl_to_start", place)
        for place, head in enumerate(_playout_heads(result))
    ]
    note = "KL divergence of the initial policy from the policy."
    figure = curve_figure(
        "Distance from the start (nats)", curves, note, has_legend=True, x_title="decisions", least=0.0
    )  # fmt: skip
    return report_page.figure(*figure)


_PREDICTORS = {
    "net": "the net",
    "mean": "mean of all places",
    "place_now": "as if the game ended now",
    "place_and_kyoku": "mean of this place before this deal",
}


def reward_section(result: Mapping[str, Any]) -> str:
    """Return the section; empty without a result."""
    if not result:
        return ""
    games, test = result["games"], result["test"]
    points = ", ".join(number(value) for value in result["points"])
    body = report_page.paragraph(
        "After each deal, the reward predictor predicts the final reward of the whole game. " + _reward_finding(test)
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
    body += report_page.table(columns, rows, about=about) + report_page.side_by_side(*_reward_charts(result))
    sums = result["sums"]
    body += report_page.paragraph(
        f"The four seats of a table are predicted one by one: their sum deviates by {difference(sums['mean'], 1)} "
        f"points on average, and by {number(sums['mean_absolute'])} points regardless of sign.",
        is_soft=True,
    )
    examples = [_example(game, place) for place, game in enumerate(result["examples"], 1)]
    return body + report_page.heading("Test games") + report_page.side_by_side(*examples)


def _reward_finding(test: Mapping[str, Any]) -> str:
    parts = []
    for name, figures in test.items():
        if figures.get("interval"):
            low, high = figures["interval"]
            how = "below" if high < 0 else "above" if low > 0 else "not clearly different from"
            margin = f"{percent(abs(figures['margin']))} " if how in ("below", "above") else ""
            widened = widened_note(figures.get("is_widened", False), "test games")
            parts.append(f"{margin}{how} that of “{_PREDICTORS[name]}”{widened}")
    return f"Its loss on test games is {', '.join(parts)}." if parts else ""


def _reward_charts(result: Mapping[str, Any]) -> list[str]:
    history = result["history"]
    curves = [curve_of("training", history, "step", "train_loss", 0, has_dots=True),
              curve_of("validation", history, "step", "validation_loss", 1, has_dots=True)]  # fmt: skip
    loss = curve_figure("Loss after each epoch", curves, label="Loss of the reward predictor", x_title="step")
    groups = reliability_chart(
        result["calibration"], "Predicted and paid points", x_title="predicted points", unit="number"
    )
    return [
        report_page.figure(*loss),
        report_page.figure(groups, "Points paid by points predicted", "Ten groups of equal size; dashed: exact."),
    ]


def _example(game: Mapping[str, Any], place: int) -> str:
    """Return the picture of one game: what was predicted for each seat before each deal, and what was paid."""
    names = list(map(kyoku_name, game["kyoku"], game["honba"]))
    curves = []
    for seat in range(4):
        points = [(deal + 1.0, float(line[seat])) for deal, line in enumerate(game["predictions"])]
        points.append((len(game["predictions"]) + 1.0, float(game["paid"][seat])))
        curves.append(Curve(name=f"seat {seat}", points=points, colour=seat, has_dots=True))
    final = ", ".join(number(score) for score in game["scores"][-1])
    title = f"Game {place}: points predicted before each deal"
    note = f"{count_text(len(names), 'deal')} from {names[0]} to {names[-1]}; final scores {final}."
    return report_page.figure(
        *curve_figure(title, curves, note, x_title="deal; the last dots are the actual reward")
    )  # fmt: skip
