"""The learning stage: nets play against themselves and learn the returns of their moves.

Leaves what ``suphx.training.monte_carlo.monte_carlo_learning`` writes (``metrics.json`` and the state from which a
killed stage continues), and the best nets as one file for each seat.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from suphx.games.doudizhu import ScriptedPlayer, play_decks
from suphx.training.loop.metrics_file import METRICS_FILE
from suphx.training.loop.training_watch import StoppedError, TrainingWatch
from suphx.training.monte_carlo.monte_carlo_config import MAX_SEED
from suphx.training.monte_carlo.monte_carlo_learning import SIDES, learn_values
from suphx.training.monte_carlo.value_nets import FILES, save_value_nets
from suphx_pipelines.engine.stage import Interrupted, Stage, StageContext
from suphx_pipelines.recipe.monte_carlo_recipe import MonteCarloRecipe
from suphx_platform.console.console import Progress
from suphx_platform.console.stop_request import StopRequest

STAGE_NAME = "learning"
_PERCENT = 100


def learning_stage() -> Stage[MonteCarloRecipe]:
    """Return the stage."""
    return Stage(name=STAGE_NAME, run=run, recipe_keys=("game", "rules", "learning"), artifacts=(METRICS_FILE, *FILES))


def run(context: StageContext[MonteCarloRecipe]) -> dict[str, float]:
    """Learn, or continue, and return the figures at the end."""
    recipe = context.recipe
    config = replace(recipe.learning, seed=(recipe.learning.seed + context.seed) % MAX_SEED)
    with context.console.activity("compiling kernels"):
        play_decks(1, recipe.rules, ScriptedPlayer("rule"), ScriptedPlayer("random"))
    with context.console.progress("%", _PERCENT, name=STAGE_NAME) as progress, StopRequest() as stop:
        watch = _Watch(context, progress, stop)
        try:
            nets, done = learn_values(
                config, recipe.rules, context.folder, report=watch.report, keep=context.keep, watch=watch
            )
        except StoppedError as stopped:
            raise Interrupted(f"step {stopped.step:,} of {STAGE_NAME}") from stopped
    save_value_nets(context.folder, nets, recipe.rules, {"recipe": recipe.name, "step": done.best_step})
    last = done.history[-1]
    context.console.say(f"{STAGE_NAME}: {last['games']:,} games, the nets of step {done.best_step:,} won most")
    figures = {name: last[name] for name in ("step", "games", "samples", "seconds", "loss")}
    return {name: float(value) for name, value in figures.items()} | {"best_step": float(done.best_step)}


class _Watch(TrainingWatch):
    """Consumes: the progress of a training. Produces: the progress bar, curves, and requests to stop."""

    def __init__(self, context: StageContext[MonteCarloRecipe], progress: Progress, stop: StopRequest) -> None:
        self._context, self._progress, self._stop = context, progress, stop
        self._note = "first games"

    def report(self, entry: Mapping[str, Any]) -> None:
        """Take a new entry of the curve."""
        points = curve_point(entry)
        self._context.tracker.log_metrics(points, step=entry["step"])
        opponent = self._context.recipe.learning.opponents[-1]
        shares = [f"{points[f'{opponent}_wp_{side}']:.0%} as {side}" for side in SIDES]
        self._note = f"{entry['games']:,} games; wins against {opponent}: {', '.join(shares)}"

    def resumed(self, step: int, share_done: float) -> None:
        self._context.console.say(f"{STAGE_NAME}: continuing from step {step:,}")
        self._progress.resume(_PERCENT * share_done)

    def progress(self, share_done: float) -> None:
        self._progress.reach(_PERCENT * share_done, self._note)

    def is_stopping(self) -> bool:
        return self._stop.is_made


def curve_point(entry: Mapping[str, Any]) -> dict[str, float]:
    """Return an entry of the curve with the figures of all opponents side by side: ``random_wp_landlord`` and so on."""
    point: dict[str, float] = {}
    for name, value in entry.items():
        if isinstance(value, Mapping):
            point |= {f"{name}_{figure}": float(number) for figure, number in value.items()}
        elif name != "step":
            point[name] = float(value)
    return point
