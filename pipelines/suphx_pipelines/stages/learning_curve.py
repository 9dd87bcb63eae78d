"""The learning curve: the same nets from fewer games, and how accurate they are by the number of games.

Stages ``learning_curve/<games>/<head>`` train like the supervised stages, on the same validation and test samples, from
the first so many training games. The last stage, ``learning_curve/summary``, leaves ``curve.json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from suphx.training.trainer import METRICS_FILE
from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.recipe.agent_stages import SUPERVISED_STAGES
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.runs.stage import Stage, StageContext
from suphx_pipelines.stages import supervised
from suphx_pipelines.stages.supervised import RECIPE_KEYS, train

SUMMARY_STAGE = "learning_curve/summary"
CURVE_FILE = "curve.json"


FILES: Mapping[str, str] = {
    "curve.json": (
        "{head: [{games, kyokus, trained_samples, accuracy, majority_accuracy, balanced_accuracy, loss, "
        "samples}]}, ascending, the supervised stage's net last"
    ),
}
"""What the stage writes into its folder (docs/result_files.md); JSON is null where it is undefined."""


def curve_stages(recipe: Recipe) -> list[Stage[Recipe]]:
    """Return the stages of all points but the last one, small ones first; none if the recipe wants no curve."""
    return [
        Stage(
            name=_stage_name(num_games, head),
            run=partial(train, head=head, num_games=num_games),
            recipe_keys=RECIPE_KEYS,
            needs=("records",),
            artifacts=(METRICS_FILE,),
            files=supervised.FILES,
        )
        for num_games in recipe.learning_curve.games
        for head in recipe.learning_curve.heads
    ]


def summary_stages(recipe: Recipe) -> list[Stage[Recipe]]:
    """Return the stage that puts the points together, or none; it comes after the supervised stages."""
    if not recipe.learning_curve.games:
        return []
    points = [stage.name for stage in curve_stages(recipe)]
    needs = (*points, *(SUPERVISED_STAGES[head] for head in recipe.learning_curve.heads))
    return [
        Stage(
            name=SUMMARY_STAGE,
            run=summarise,
            recipe_keys=("learning_curve",),
            needs=needs,
            artifacts=(CURVE_FILE,),
            files=FILES,
            is_summary=True,
        )
    ]


def summarise(context: StageContext[Recipe]) -> dict[str, float]:
    """Write the curve of every head, log it by the number of games and return the gain from the smallest to all."""
    config = context.recipe.learning_curve
    curve = {}
    for head in config.heads:
        folders = [context.upstream[_stage_name(num_games, head)] for num_games in config.games]
        curve[head] = [_point(folder) for folder in [*folders, context.upstream[SUPERVISED_STAGES[head]]]]
        for point in curve[head]:
            figures = {name: point[name] for name in ("accuracy", "loss") if point[name] is not None}
            named = {f"{head}_{name}": float(value) for name, value in figures.items()}
            context.tracker.log_metrics(named, step=point["games"])
    write_json(context.folder / CURVE_FILE, curve)
    gains = {f"{head}_gain": _gain(points) for head, points in curve.items()}
    return {name: gain for name, gain in gains.items() if gain is not None}


def _stage_name(num_games: int, head: str) -> str:
    return f"learning_curve/{num_games}/{head}"


def _point(folder: Path) -> dict[str, Any]:
    metrics = read_json(folder / METRICS_FILE)
    test = metrics["test"]
    return {
        "games": metrics["train_games"],
        "kyokus": metrics["train_kyokus"],
        "trained_samples": metrics["history"][-1]["samples"],
        **{name: test[name] for name in ("accuracy", "majority_accuracy", "balanced_accuracy", "loss", "samples")},
    }


def _gain(points: list[dict[str, Any]]) -> float | None:
    first, last = points[0]["accuracy"], points[-1]["accuracy"]
    return None if first is None or last is None else float(last - first)
