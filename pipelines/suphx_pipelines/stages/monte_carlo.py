"""The learning stage: nets play against themselves and learn the returns of their moves.

Leaves what ``suphx.training.monte_carlo_learning`` writes: the best nets, ``metrics.json``, and the state from which
a killed stage continues.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from suphx.evaluation.game_runner import compile_game
from suphx.games.registry import candidate_game
from suphx.selfplay.agents.checkpoint_folder import checkpoint_names
from suphx.training.config import MAX_SEED, MonteCarloConfig
from suphx.training.monte_carlo_learning import STATE_FILE, NewBackend, ValueTrainer
from suphx.training.trainer import METRICS_FILE
from suphx_pipelines.recipe.agent_stages import MONTE_CARLO_STAGE
from suphx_pipelines.recipe.recipe import MonteCarloRecipe
from suphx_pipelines.runs.stage import Stage, StageContext
from suphx_pipelines.stages.evaluation import log_walls
from suphx_pipelines.stages.training import log_checkpoint, training


def learning_stage(game_name: str) -> Stage[MonteCarloRecipe]:
    """Return the stage of a game."""
    return Stage(
        name=MONTE_CARLO_STAGE,
        run=run,
        recipe_keys=("game", "rules", "learning"),
        artifacts=(METRICS_FILE, *checkpoint_names(game=game_name)),
        agent=MONTE_CARLO_STAGE,
    )


def run(context: StageContext[MonteCarloRecipe]) -> dict[str, float]:
    """Learn by deep Monte-Carlo self-play."""
    recipe = context.recipe
    game = candidate_game(recipe.game)
    config = replace(recipe.learning, seed=(recipe.learning.seed + context.seed) % MAX_SEED)
    with context.console.activity("compiling kernels"):
        compile_game(recipe.game, recipe.rules)
    decks = recipe.learning.evaluate_decks
    log_walls(context, game.name, range(decks), 2 * decks * len(recipe.learning.opponents))
    with training(context, MONTE_CARLO_STAGE, "first games", state=context.folder / STATE_FILE) as watch:
        models: dict[int, str] = {}

        def note_measured(entry: Mapping[str, Any], nets: Path) -> None:
            models[entry["step"]] = log_checkpoint(context, nets, entry["step"], recipe.game)

        def report(entry: Mapping[str, Any]) -> None:
            points, opponent = curve_point(entry), recipe.learning.opponents[-1]
            context.tracker.log_metrics(points, step=entry["step"], model=models.get(entry["step"], ""))
            shares = [f"{points[f'{opponent}_wp_{side}']:.0%} as {side}" for side in game.sides]
            watch.note = f"{entry['games']:,} games; wins against {opponent}: {', '.join(shares)}"

        _, done = ValueTrainer(
            config,
            game,
            recipe.rules,
            context.folder,
            extra={"recipe": recipe.name},
            measured=note_measured,
            report=report,
            keep=context.keep,
            watch=watch,
            new_backend=_new_backend(recipe, config),
        ).run()
    last = done.history[-1]
    context.console.say(f"{MONTE_CARLO_STAGE}: {last['games']:,} games, the nets of step {done.best_step:,} won most")
    figures = {name: last[name] for name in ("step", "games", "samples", "seconds", "loss")}
    return {name: float(value) for name, value in figures.items()} | {"best_step": float(done.best_step)}


def _new_backend(recipe: MonteCarloRecipe, config: MonteCarloConfig) -> NewBackend | None:
    """Return who plays and learns: None is this process, which never imports Ray."""
    if not recipe.cluster.on_ray:
        return None
    from suphx_platform.ray.backend import ray_backend
    from suphx_platform.ray.parts import monte_carlo_parts
    from suphx_platform.ray.task_matches import TaskMatches

    parts = monte_carlo_parts(config, recipe.cluster, recipe.game, recipe.rules)
    return lambda state: ray_backend(parts, state, new_matches=TaskMatches)


def curve_point(entry: Mapping[str, Any]) -> dict[str, float]:
    """Return an entry of the curve with the figures of all opponents side by side: ``random_wp_landlord`` and so on."""
    point: dict[str, float] = {}
    for name, value in entry.items():
        if isinstance(value, Mapping):
            point |= {f"{name}_{figure}": float(number) for figure, number in value.items()}
        elif name != "step":
            point[name] = float(value)
    return point
