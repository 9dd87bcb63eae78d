"""The learning stage: nets play against themselves and learn the returns of their moves.

Leaves what ``suphx.training.monte_carlo.monte_carlo_learning`` writes (``metrics.json`` and the state from which a
killed stage continues), and the best nets as one file for each seat.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from suphx.games.registry import candidate_game
from suphx.training.loop.metrics_file import METRICS_FILE
from suphx.training.loop.training_watch import StoppedError, TrainingWatch
from suphx.training.monte_carlo.monte_carlo_config import MAX_SEED, MonteCarloConfig
from suphx.training.monte_carlo.monte_carlo_learning import learn_values
from suphx.training.monte_carlo.round_backend import NewBackend
from suphx.training.monte_carlo.value_nets import file_names, save_value_nets
from suphx_pipelines.engine.stage import Interrupted, Stage, StageContext
from suphx_pipelines.recipe.monte_carlo_recipe import MonteCarloRecipe
from suphx_platform.console.console import Console, Progress
from suphx_platform.console.stop_request import StopRequest

STAGE_NAME = "learning"
_PERCENT = 100


def learning_stage(game_name: str) -> Stage[MonteCarloRecipe]:
    """Return the stage of a game."""
    artifacts = (METRICS_FILE, *file_names(candidate_game(game_name)))
    return Stage(name=STAGE_NAME, run=run, recipe_keys=("game", "rules", "learning"), artifacts=artifacts)


def run(context: StageContext[MonteCarloRecipe]) -> dict[str, float]:
    """Learn, or continue, and return the figures at the end."""
    recipe = context.recipe
    game = candidate_game(recipe.game)
    config = replace(recipe.learning, seed=(recipe.learning.seed + context.seed) % MAX_SEED)
    with context.console.activity("compiling kernels"):
        game.play_match(1, recipe.rules, *(game.scripted_player(name) for name in (game.agents[0], game.agents[-1])))
    with context.console.progress("%", _PERCENT, name=STAGE_NAME) as progress, StopRequest() as stop:
        watch = _Watch(context, progress, stop)
        try:
            trained, done = learn_values(
                config,
                game,
                recipe.rules,
                context.folder,
                report=watch.report,
                keep=context.keep,
                watch=watch,
                new_backend=_new_backend(recipe, config, context.console),
            )
        except StoppedError as stopped:
            raise Interrupted(f"step {stopped.step:,} of {STAGE_NAME}") from stopped
    save_value_nets(context.folder, trained, {"recipe": recipe.name, "step": done.best_step})
    last = done.history[-1]
    context.console.say(f"{STAGE_NAME}: {last['games']:,} games, the nets of step {done.best_step:,} won most")
    figures = {name: last[name] for name in ("step", "games", "samples", "seconds", "loss")}
    return {name: float(value) for name, value in figures.items()} | {"best_step": float(done.best_step)}


def _new_backend(recipe: MonteCarloRecipe, config: MonteCarloConfig, console: Console) -> NewBackend | None:
    """Return who plays and learns: None is this process, which never imports Ray."""
    if not recipe.cluster.on_ray:
        return None
    from suphx_platform.on_ray.monte_carlo.ray_rounds import RayRounds

    return partial(RayRounds, config, recipe.cluster, recipe.game, recipe.rules, say=console.say)


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
        sides = candidate_game(self._context.recipe.game).sides
        shares = [f"{points[f'{opponent}_wp_{side}']:.0%} as {side}" for side in sides]
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
