"""What plays the decks of the stages of a tournament in a game of two sides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import torch

from suphx.evaluation.workers.side_runner import SideRunner, compile_game
from suphx.models.device import uses_bf16
from suphx.models.net_config import Precision
from suphx_pipelines.tournament.pool.tournament_games import stage_workers
from suphx_pipelines.tournament.sides.side_pool import SideContext
from suphx_platform.agents.side_agent import load_side_player


@contextmanager
def side_runner(context: SideContext, num_games: int) -> Iterator[SideRunner]:
    """Yield what plays the decks of a stage: it shows, keeps and stores finished games."""
    recipe = context.recipe
    if not recipe.on_ray:  # before processes play, each of which would compile them
        with context.console.activity("compiling kernels"):
            compile_game(recipe.game, recipe.rules)
    # Settled here: workers on nodes with other CPUs would choose another one.
    precision: Precision = "bf16" if uses_bf16("auto", torch.device("cpu")) else "fp32"
    load = partial(load_side_player, recipe.game, precision=precision)
    with stage_workers(context, "games", num_games) as (workers, kept, advance, skip):
        yield SideRunner(workers=workers, load=load, kept=kept, progress=advance, note_kept=skip)
