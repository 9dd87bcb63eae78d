"""The records stage of a game without an archive: games that an agent plays, or given ones, become a store.

Leaves ``store/`` (``RecordedSamples`` of suphx/games/learning.py) and ``summary.json`` (docs/result_files.md).
"""

from __future__ import annotations

from functools import partial
from itertools import islice

import numpy as np

from suphx.games.registry import game_modules, load_game
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.agents.checkpoint_folder import find_nets
from suphx.selfplay.rollouts.rollout import play_games
from suphx.training.head_data import recorded_samples
from suphx_pipelines.json_file import write_json
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.runs.stage import Stage, StageContext
from suphx_pipelines.stages.riichi_records import STORE_FOLDER, first_record_seed


def played_records_stage(recipe: Recipe) -> Stage[Recipe]:
    """Return the stage."""
    return Stage(
        name="records",
        run=run,
        recipe_keys=("records",),
        reads_records=True,
        outside_files=lambda recipe: find_nets(recipe.records.player, recipe.game_name),
        artifacts=("*.json*",),
        modules=game_modules(recipe.game_name),
    )


def run(context: StageContext[Recipe]) -> dict[str, float]:
    """Store the given games, or those that the recipe's player plays against itself; ValueError without any."""
    config, game = context.recipe.records, load_game(context.recipe.game_name)
    is_given = context.records is not None
    with context.console.progress("games", None if is_given else config.played_games, name="records") as progress:
        if context.records is not None:
            games = progress.count(game.read_records(context.records))
        else:
            seeds = range(first := first_record_seed(context.seed), first + config.played_games)
            seating = np.zeros((config.played_games, len(game.seat_names)), np.int64)
            play = partial(play_games, game=game.name, progress=progress.advance)
            games = play([load_agent(config.player, game=game.name)], seating, seeds, game.new_rules({}))
        wanted = islice(games, config.max_games or None)
        store = recorded_samples(game.name).write(wanted, context.folder / STORE_FOLDER)
    counts = {"games": len(store.game_ids), "kyoku": len(store.game_of_kyoku)}
    write_json(context.folder / "summary.json", {"source": "given" if is_given else "played", **counts})
    return {name: float(value) for name, value in counts.items()} | {"played": float(not is_given)}
