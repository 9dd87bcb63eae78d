"""What the stages that play games share: the walls of the night, who plays, and where finished games are kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from suphx.evaluation.rating.rated_games import RatedGame
from suphx.evaluation.workers.game_runner import GameRunner
from suphx.evaluation.workers.match_records import GAMES_FOLDER, KeptResults
from suphx.evaluation.workers.play_plan import MAX_WALL_SEED, WALLS_PER_SEED, Workers, wall_seeds
from suphx_pipelines.runs.runner import RunResult
from suphx_pipelines.runs.stage import StageContext
from suphx_pipelines.tournament.pool.tournament_pool import Context
from suphx_platform.agents.agent_loading import load_any_agent
from suphx_platform.console.console import Console
from suphx_platform.evaluation.match_workers import match_workers


def all_walls(seed: int) -> range:
    """Return all walls of riichi that a seed has."""
    return wall_seeds(seed, WALLS_PER_SEED)


@contextmanager
def stage_runner(context: Context, num_games: int) -> Iterator[GameRunner]:
    """Yield what plays the games of a stage: it shows, keeps and stores finished games."""
    with stage_workers(context, "hanchans", num_games) as (workers, kept, advance, skip):
        yield GameRunner(workers=workers, load=load_any_agent, kept=kept, progress=advance, note_kept=skip)


@contextmanager
def stage_workers(
    context: StageContext[Any], unit: str, number: int
) -> Iterator[tuple[Workers, KeptResults, Callable[[float], None], Callable[[float], None]]]:
    """Yield who plays, where finished games are kept, and what to call with those: it shows and stores them.

    At last what to call with games that an earlier attempt has kept.
    """
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

        yield workers, kept, advance, progress.skip


def say_if_repeated(result: RunResult, night: str, console: Console) -> None:
    """Say so if the tournament of the night had been played before, so that its result is repeated."""
    if result.was_finished:
        console.say(
            f"The night {night} of {result.run_id} has been played before: its result follows, and nothing was played "
            "now. To play again, name another night: --set night=NAME"
        )


def wall_seed(
    context: StageContext[Any], played: Iterable[RatedGame] = (), walls_of: Callable[[int], range] = all_walls
) -> int:
    """Return a seed of walls that changes with the night: nobody shall learn the walls of a tournament.

    Where its walls are among those of the games ``played``, it is the next seed without one of them. ``walls_of``: all
    walls of a seed.
    """
    digest = hashlib.sha256(f"{context.seed}/{context.recipe.night}".encode()).digest()
    seed, known = int.from_bytes(digest[:8]) % MAX_WALL_SEED, {game.wall for game in played}
    for _ in range(MAX_WALL_SEED):
        walls = walls_of(seed)
        if not any(wall in walls for wall in known):
            break
        seed = (seed + 1) % MAX_WALL_SEED
    return seed
