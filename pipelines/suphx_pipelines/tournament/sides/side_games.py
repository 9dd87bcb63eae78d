"""What plays the decks of the stages of a tournament in a game of two sides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from suphx.evaluation.workers.side_runner import SidePlan, SideRunner
from suphx_pipelines.tournament.pool.tournament_games import kept_games
from suphx_pipelines.tournament.sides.side_pool import SideContext
from suphx_platform.agents.side_agent import load_side_player
from suphx_platform.evaluation.match_workers import match_workers


@contextmanager
def side_runner(context: SideContext, num_games: int) -> Iterator[SideRunner]:
    """Yield what plays the decks of a stage: it shows, keeps and stores finished games."""
    recipe = context.recipe
    load = partial(load_side_player, recipe.game)
    if not recipe.on_ray:  # before processes play, each of which would compile them
        with context.console.activity("compiling kernels"):
            SidePlan(game=recipe.game, rules=recipe.rules, addresses=(), load=load).compile_kernels(lambda: None)
    with (
        match_workers(recipe.workers, on_ray=recipe.on_ray, say=context.console.say) as workers,
        kept_games(context, "games", num_games) as (kept, advance),
    ):
        yield SideRunner(workers=workers, load=load, kept=kept, progress=advance)
