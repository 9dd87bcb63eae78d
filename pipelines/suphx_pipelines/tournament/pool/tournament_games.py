"""What the stages that play games share: the walls of the night, who plays, and where finished games are kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from suphx.evaluation.workers.game_task import Workers
from suphx.evaluation.workers.game_workers import MAX_WALL_SEED
from suphx.evaluation.workers.kept_results import GAMES_FOLDER, KeptResults
from suphx_pipelines.tournament.pool.tournament_pool import Context
from suphx_platform.evaluation.match_workers import match_workers


@contextmanager
def games_of(context: Context, num_games: int) -> Iterator[tuple[KeptResults, Callable[[float], None]]]:
    """Yield where the stage keeps finished games, and what is to be told of them: it shows and stores them."""
    kept = KeptResults(context.folder / GAMES_FOLDER)
    stored = len(kept)
    with context.console.progress("hanchans", num_games) as progress:

        def advance(games: float) -> None:
            nonlocal stored
            progress.advance(games)
            if len(kept) > stored:
                stored = len(kept)
                context.keep(stored)

        yield kept, advance


def wall_seed(context: Context) -> int:
    """Return a seed of walls that changes with the night: nobody shall learn the walls of a tournament."""
    digest = hashlib.sha256(f"{context.seed}/{context.recipe.night}".encode()).digest()
    return int.from_bytes(digest[:8]) % MAX_WALL_SEED


def workers_of(context: Context) -> AbstractContextManager[Workers]:
    """Return what plays the games of a stage, inside a block."""
    recipe = context.recipe
    return match_workers(recipe.workers, on_ray=recipe.on_ray, say=context.console.say)
