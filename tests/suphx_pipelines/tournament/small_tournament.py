"""A tournament of seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from suphx.evaluation.measures import SequentialConfig
from suphx_pipelines.recipe.tournament_recipe import DecisionConfig, LeaderboardConfig, PoolConfig, TournamentRecipe
from suphx_pipelines.tournament.history import GameCode
from suphx_pipelines.tournament.kind import Kind
from suphx_pipelines.tournament.tournament import run_tournament
from suphx_platform.console.console import Console

SMALL = TournamentRecipe(
    name="nightly",
    night="1",
    workers=1,
    pool=PoolConfig(newest=1),
    leaderboard=LeaderboardConfig(games=20),
    decision=DecisionConfig(games=320, fresh_games=24, opponent="", test=SequentialConfig(difference=0.35, error=0.05)),
)

KIND = Kind("riichi")


def play(runs: Path, recipe: TournamentRecipe = SMALL) -> dict[str, Any]:
    """Play the tournament and return its JSON."""
    return run_tournament(recipe, runs=runs, console=Console()).to_json()


def code() -> GameCode:
    """Return by which rules tournaments are played now: fixtures make games shorter."""
    return KIND.code(SMALL)
