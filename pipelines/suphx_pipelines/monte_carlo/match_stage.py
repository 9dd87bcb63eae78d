"""The match stage: the trained nets against scripted agents, on decks that neither training nor curve has used.

Leaves ``match.json``: ``decks``, and ``opponents`` {name: {``share``, ``wp_landlord``, ``wp_peasant``,
``adp_landlord``, ``adp_peasant``: {mean, interval [2]}}}. ``share``: of all games won, half of them on each side, so
that equal agents have 0.5.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from suphx.evaluation.statistics import mean_interval
from suphx.games.doudizhu import DeckResults, ScriptedPlayer, play_decks
from suphx.models.device import uses_bf16
from suphx.training.monte_carlo.monte_carlo_learning import SIDES
from suphx.training.monte_carlo.value_nets import load_value_nets
from suphx.training.monte_carlo.value_player import ValuePlayer
from suphx_pipelines.engine.json_file import write_json
from suphx_pipelines.engine.stage import Stage, StageContext
from suphx_pipelines.monte_carlo import learning_stage
from suphx_pipelines.recipe.monte_carlo_recipe import MonteCarloRecipe

F64 = NDArray[np.float64]

STAGE_NAME = "match"
MATCH_FILE = "match.json"
_FIRST_DECK, _SEEDS = 2**30, 2**36
"""Above the decks of the curve, which begin at 0, and below those of self-play, which begin at 2**40."""
_DECKS_AT_A_TIME = 250


def match_stage() -> Stage[MonteCarloRecipe]:
    """Return the stage."""
    return Stage(
        name=STAGE_NAME,
        run=run,
        recipe_keys=("match", "learning.precision"),
        needs=(learning_stage.STAGE_NAME,),
        artifacts=(MATCH_FILE,),
    )


def run(context: StageContext[MonteCarloRecipe]) -> dict[str, float]:
    """Play all decks against each opponent and return the figures."""
    config = context.recipe.match
    nets, rules = load_value_nets(context.upstream[learning_stage.STAGE_NAME])
    is_bf16 = uses_bf16(context.recipe.learning.precision, torch.device("cpu"))
    player = ValuePlayer(nets, rules.load_moves(), is_bf16=is_bf16)
    first = _FIRST_DECK + context.seed % _SEEDS
    found: dict[str, Any] = {}
    with context.console.progress("decks", config.decks * len(config.opponents), name=STAGE_NAME) as progress:
        for opponent in config.opponents:
            parts = []
            for start in range(0, config.decks, _DECKS_AT_A_TIME):
                count = min(_DECKS_AT_A_TIME, config.decks - start)
                parts.append(play_decks(count, rules, player, ScriptedPlayer(opponent), first_seed=first + start))
                progress.advance(count)
            found[opponent] = _figures(parts)
            shown = ", ".join(f"{found[opponent][f'wp_{side}']['mean']:.1%} as {side}" for side in SIDES)
            context.console.say(f"against {opponent}: {shown}")
    write_json(context.folder / MATCH_FILE, {"decks": config.decks, "opponents": found})
    return {
        f"{opponent}_{name}{end}": value
        for opponent, figures in found.items()
        for name, figure in figures.items()
        for end, value in zip(("", "_low", "_high"), (figure["mean"], *figure["interval"]), strict=True)
    }


def _figures(parts: list[DeckResults]) -> dict[str, Any]:
    columns = {
        f"{measure}_{side}": np.concatenate([getattr(part, f"{side}_{name}") for part in parts]).astype(np.float64)
        for measure, name in (("wp", "wins"), ("adp", "points"))
        for side in SIDES
    }
    columns["share"] = (columns["wp_landlord"] + columns["wp_peasant"]) / 2
    return {name: _figure(values) for name, values in columns.items()}


def _figure(values: F64) -> dict[str, Any]:
    interval = mean_interval(values)
    return {"mean": float(values.mean()), "interval": [interval.low, interval.high]}
