"""A tournament of seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from suphx.evaluation.measures import SequentialConfig
from suphx_pipelines.recipe.tournament_recipe import DecisionConfig, LeaderboardConfig, PoolConfig, TournamentRecipe
from suphx_pipelines.runs.stage import StageContext
from suphx_pipelines.tournament.history import GameCode
from suphx_pipelines.tournament.kind import Context, Kind
from suphx_pipelines.tournament.tournament import run_tournament
from suphx_platform.console.console import Console
from suphx_platform.tracking.tracking import Tracker

SMALL = TournamentRecipe(
    name="nightly",
    night="1",
    workers=1,
    pool=PoolConfig(newest=1),
    leaderboard=LeaderboardConfig(hanchans=20),
    decision=DecisionConfig(
        hanchans=320, fresh_hanchans=24, opponent="", test=SequentialConfig(difference=0.35, error=0.05)
    ),
)

KIND = Kind("riichi")


def context_of(recipe: TournamentRecipe, tracker: Tracker, folder: Path) -> Context:
    """Return that of a stage in a new folder."""
    folder.mkdir(parents=True, exist_ok=True)
    return StageContext(
        folder=folder,
        recipe=recipe,
        upstream={},
        records=None,
        tracker=tracker,
        console=Console(),
        seed=1,
        storage_name="",
        keep=lambda number, then=None: None,
    )


def play(runs: Path, recipe: TournamentRecipe = SMALL) -> dict[str, Any]:
    """Play the tournament and return its JSON."""
    return run_tournament(recipe, runs=runs, console=Console()).to_json()


def code() -> GameCode:
    """Return by which rules tournaments are played now: fixtures make games shorter."""
    return KIND.code(SMALL)
