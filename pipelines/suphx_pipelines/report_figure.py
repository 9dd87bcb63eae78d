"""The figures of the report as data URIs: transparent, in colours that can be read on white and on black."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from suphx_pipelines.report_name import short_names

GREY = "#858b95"
BLUE = "#3d82d6"
ORANGE = "#d9772b"
GREEN = "#3a9b6b"
COLOURS = (BLUE, ORANGE, GREEN, "#a463c9", "#c2504f")

_STYLE: Any = {  # rc_context names every possible key in its type
    "axes.edgecolor": GREY,
    "axes.labelcolor": GREY,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": GREY,
    "axes.titlesize": 10,
    "font.size": 9,
    "grid.color": GREY,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "legend.labelcolor": GREY,
    "svg.hashsalt": "suphx",  # the same figure gives the same bytes
    "text.color": GREY,
    "xtick.color": GREY,
    "ytick.color": GREY,
}


_MEMORY = "_memory_bytes"


def learning_curves(history: Sequence[Mapping[str, Any]]) -> str:
    """Draw loss (left) and accuracy (right) against optimiser steps; entries may lack a value."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(6.4, 2.3), layout="constrained")
        left, right = figure.subplots(1, 2)
        _curve(left, history, "train_loss", BLUE, "training")
        _curve(left, history, "validation_loss", ORANGE, "validation")
        left.set(title="loss", xlabel="step")
        left.legend(fontsize=8)
        _curve(right, history, "validation_accuracy", GREEN, "validation")
        right.set(title="validation accuracy", xlabel="step")
        right.yaxis.set_major_formatter("{x:.0%}")
        for axes in (left, right):
            axes.grid(visible=True)
        return _data_uri(figure)


def accuracy_by_games(
    curve: Mapping[str, Sequence[Mapping[str, Any]]], levels: Mapping[str, float]
) -> str:  # fmt: skip
    """Draw the accuracy of each net against the number of games that it learned from; ``levels`` are dotted lines."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(6.4, 3.2), layout="constrained")
        axes = figure.subplots()
        for (head, points), colour in zip(curve.items(), cycle(COLOURS), strict=False):
            known = [(point["games"], point["accuracy"]) for point in points if point["accuracy"] is not None]
            axes.plot([x for x, _ in known], [y for _, y in known], color=colour, label=head, marker="o", linewidth=1.5)
            axes.axhline(levels[head], color=colour, linewidth=0.8, linestyle=":")
        axes.set(xscale="log", xlabel="training games", title="test accuracy")
        axes.yaxis.set_major_formatter("{x:.0%}")
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
        axes.grid(visible=True)
        return _data_uri(figure)


def self_play(history: Sequence[Mapping[str, Any]], head: str, target: float | None = None) -> str:
    """Draw entropy (left), alpha (middle) and staleness (right) of a head against updates of self-play."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(6.8, 2.3), layout="constrained")
        parts = ((f"{head}_entropy", "entropy (nats)", BLUE), (f"{head}_alpha", "alpha", ORANGE),
                 ("staleness", "staleness (versions)", GREEN))  # fmt: skip
        panels = figure.subplots(1, 3)
        for axes, (key, title, colour) in zip(panels, parts, strict=True):
            _curve(axes, history, key, colour, title, x="updates")
            axes.set(title=title, xlabel="update")
            axes.grid(visible=True)
        _target(panels[0], target)
        return _data_uri(figure)


def memory(history: Sequence[Mapping[str, Any]]) -> str:
    """Draw the private memory of the largest process of each kind against the minutes of self-play."""
    kinds = sorted({name for point in history for name in point if name.endswith(_MEMORY)})
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(6.8, 2.6), layout="constrained")
        axes = figure.subplots()
        for kind, colour in zip(kinds, cycle(COLOURS), strict=False):
            known = [(point["seconds"] / 60, point[kind] / 2**20) for point in history if kind in point]
            label = kind.removesuffix(_MEMORY)
            axes.plot([x for x, _ in known], [y for _, y in known], color=colour, label=label, linewidth=1.5)
        axes.set(xlabel="minutes", title="memory of the largest process (MiB)", ylim=(0, None))
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
        axes.grid(visible=True)
        return _data_uri(figure)


def entropies(
    histories: Mapping[str, Sequence[Mapping[str, Any]]], head: str, target: float | None
) -> str:  # fmt: skip
    """Draw the entropy of a head against updates, a line for each run of self-play."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(6.8, 2.6), layout="constrained")
        axes = figure.subplots()
        for name, history, colour in _named(histories):
            _curve(axes, history, f"{head}_entropy", colour, name, x="updates")
        _target(axes, target)
        axes.set(xlabel="update", title="entropy (nats)", ylim=(0, None))
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
        axes.grid(visible=True)
        return _data_uri(figure)


def paired_differences(curves: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Draw the paired difference in average placement, with its interval, against updates; curves are matches."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(6.8, 2.6), layout="constrained")
        axes = figure.subplots()
        axes.axhline(0, color=GREY, linewidth=0.8, linestyle=":")
        for name, matches, colour in _named(curves):
            middle = [match["difference"] for match in matches]
            low = [match["difference"] - match["interval"][0] for match in matches]
            high = [match["interval"][1] - match["difference"] for match in matches]
            updates = [match["updates"] for match in matches]
            style: dict[str, Any] = {"color": colour, "marker": "o", "capsize": 3, "label": name}
            axes.errorbar(updates, middle, yerr=[low, high], **style)
        axes.set(xlabel="update", title="average placement, candidate minus baseline (lower is better)")
        axes.legend(fontsize=8)
        axes.grid(visible=True)
        return _data_uri(figure)


def leaderboard(rows: Sequence[Mapping[str, Any]]) -> str:
    """Draw the ratings of agents with their intervals, the first row on top."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(6.8, 0.8 + 0.32 * len(rows)), layout="constrained")
        axes = figure.subplots()
        for height, row in enumerate(reversed(rows)):
            low, high = row["interval"]
            colour = ORANGE if row["is_champion"] else GREEN if row["is_candidate"] else BLUE
            errors = [[row["rating"] - low], [high - row["rating"]]]
            axes.errorbar([row["rating"]], [height], xerr=errors, color=colour, marker="o", capsize=3)
        axes.set_yticks(range(len(rows)), short_names([row["name"] for row in reversed(rows)]))
        axes.set(xlabel="rating", ylim=(-0.6, len(rows) - 0.4))
        axes.grid(visible=True, axis="x")
        return _data_uri(figure)


def predictions(game: Mapping[str, Any], labels: Sequence[str]) -> str:
    """Draw what the reward predictor said of each seat along a game, and (dots) what each was paid in the end."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(6.8, 2.4), layout="constrained")
        axes = figure.subplots()
        places = range(len(labels))
        for seat, colour in zip(range(4), COLOURS, strict=False):
            said = [line[seat] for line in game["predictions"]]
            axes.plot(places, said, color=colour, linewidth=1.5, label=f"seat {seat}")
            axes.plot(places[-1] + 0.3, game["paid"][seat], color=colour, marker="o", clip_on=False)
        axes.set_xticks(places, labels, fontsize=7, rotation=60)
        axes.set(ylabel="points")
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.02, 0.5))
        axes.grid(visible=True)
        return _data_uri(figure)


def losses(history: Sequence[Mapping[str, Any]]) -> str:
    """Draw training and validation loss against optimiser steps."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(3.4, 2.6), layout="constrained")
        axes = figure.subplots()
        _curve(axes, history, "train_loss", BLUE, "training")
        _curve(axes, history, "validation_loss", ORANGE, "validation")
        axes.set(title="loss", xlabel="step")
        axes.legend(fontsize=8)
        axes.grid(visible=True)
        return _data_uri(figure)


def reliability(groups: Sequence[Sequence[float]]) -> str:
    """Draw what was paid against what was predicted; groups are [prediction, paid, number]."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(2.9, 2.6), layout="constrained")
        axes = figure.subplots()
        ends = [min(min(group[:2]) for group in groups), max(max(group[:2]) for group in groups)]
        axes.plot(ends, ends, color=GREY, linewidth=0.8, linestyle=":")
        axes.plot([g[0] for g in groups], [g[1] for g in groups], color=BLUE, marker="o", linewidth=1)
        axes.set(title="calibration", xlabel="predicted", ylabel="paid (mean)")
        axes.grid(visible=True)
        return _data_uri(figure)


def with_intervals(names: Sequence[str], values: Sequence[float], intervals: Sequence[Sequence[float]]) -> str:
    """Draw a point with its interval for each name."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(6.4, 2.4), layout="constrained")
        axes = figure.subplots()
        low = [value - bounds[0] for value, bounds in zip(values, intervals, strict=True)]
        high = [bounds[1] - value for value, bounds in zip(values, intervals, strict=True)]
        axes.errorbar(range(len(names)), values, yerr=[low, high], color=BLUE, marker="o", linestyle="", capsize=4)
        axes.set_xticks(range(len(names)), names)
        axes.set(title="average placement against three SL-weak (lower is better)", xlim=(-0.5, len(names) - 0.5))
        axes.grid(visible=True)
        return _data_uri(figure)


def calibration(bins: Sequence[Sequence[float]]) -> str:
    """Draw how often the net is right against how sure it is; bins are [confidence, accuracy, samples]."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(2.5, 2.3), layout="constrained")
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":")
        filled = [bin_ for bin_ in bins if bin_[2] > 0]
        most = max((bin_[2] for bin_ in filled), default=1)
        sizes = [8 + 60 * bin_[2] / most for bin_ in filled]
        axes.scatter([b[0] for b in filled], [b[1] for b in filled], s=sizes, color=BLUE, alpha=0.8, linewidths=0)
        axes.set(title="calibration", xlabel="confidence", ylabel="accuracy", xlim=(0, 1.02), ylim=(0, 1.02))
        axes.grid(visible=True)
        return _data_uri(figure)


def confusion(counts: Sequence[Sequence[int]], names: Sequence[str]) -> str:
    """Draw how often the net chose the column where the record chose the row, each row as shares of its sum."""
    table: NDArray[np.float64] = np.array(counts, np.float64)
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(6.8, 6.2), layout="constrained")
        axes = figure.subplots()
        image = axes.imshow(np.sqrt(shares), cmap="viridis", vmin=0, vmax=1, interpolation="nearest")
        places = range(len(names))
        axes.set_xticks(places, names, fontsize=6.5, rotation=90)
        axes.set_yticks(places, names, fontsize=6.5)
        axes.set(xlabel="the net's choice", ylabel="the record's choice")
        bar = figure.colorbar(image, shrink=0.7, ticks=np.sqrt([0, 0.05, 0.2, 0.5, 1]))
        bar.ax.set_yticklabels(["0 %", "5 %", "20 %", "50 %", "100 %"])
        return _data_uri(figure)


def _named(
    curves: Mapping[str, Sequence[Mapping[str, Any]]],
) -> Iterator[tuple[str, Sequence[Mapping[str, Any]], str]]:
    """Yield name, points and colour of each curve."""
    return zip(short_names(list(curves)), curves.values(), cycle(COLOURS), strict=False)


def _curve(
    axes: Any, history: Sequence[Mapping[str, Any]], key: str, colour: str, label: str, x: str = "step"
) -> None:  # fmt: skip
    points = [(entry[x], entry[key]) for entry in history if entry.get(key) is not None]
    marker = "o" if len(points) < 3 else ""
    axes.plot([x for x, _ in points], [y for _, y in points], color=colour, label=label, linewidth=1.5, marker=marker)


def _target(axes: Any, target: float | None) -> None:
    if target is not None:
        axes.axhline(target, color=GREY, linewidth=1, linestyle=":")


def _data_uri(figure: Figure) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
