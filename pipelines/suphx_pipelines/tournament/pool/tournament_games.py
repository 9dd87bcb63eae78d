"""What the stages that play games share: the walls of the night, who plays, and where finished games are kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from suphx.evaluation.workers.game_runner import GameRunner
from suphx.evaluation.workers.kept_results import GAMES_FOLDER, KeptResults
from suphx.evaluation.workers.play_plan import Workers
from suphx.evaluation.workers.wall_seeds import MAX_WALL_SEED
from suphx_pipelines.engine.stage import StageContext
from suphx_pipelines.tournament.pool.tournament_pool import Context
from suphx_platform.agents.agent_loading import load_any_agent
from suphx_platform.evaluation.match_workers import match_workers


@contextmanager
def stage_runner(context: Context, num_games: int) -> Iterator[GameRunner]:
    """Yield what plays the games of a stage: it shows, keeps and stores finished games."""
    with stage_workers(context, "hanchans", num_games) as (workers, kept, advance):
        yield GameRunner(workers=workers, load=load_any_agent, kept=kept, progress=advance)


@contextmanager
def stage_workers(
    context: StageContext[Any], unit: str, number: int
) -> Iterator[tuple[Workers, KeptResults, Callable[[float], None]]]:
    """Yield who plays, where finished games are kept, and what to call with those: it shows and stores them."""
    recipe = context.recipe
    kept = KeptResults(context.folder / GAMES_FOLDER)
    before, stored = len(kept), 0
    with (
        match_workers(recipe.workers, on_ray=recipe.on_ray, say=context.console.say) as workers,
        context.console.progress(unit, number) as progress,
    ):

        def advance(games: float) -> None:
            nonlocal stored
            progress.advance(games)
            if kept.num_written > stored:
                stored = kept.num_written
                context.keep(before + stored)

        yield workers, kept, advance


def wall_seed(context: StageContext[Any]) -> int:
    """Return a seed of walls that changes with the night: nobody shall learn the walls of a tournament."""
    digest = hashlib.sha256(f"{context.seed}/{context.recipe.night}".encode()).digest()
    return int.from_bytes(digest[:8]) % MAX_WALL_SEED
