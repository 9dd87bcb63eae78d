"""A tournament of short games in a process of its own, which can be killed: ``python -m … RUNS WORKERS [ray]``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from suphx_pipelines.recipe.tournament_recipe import LeaderboardConfig, TournamentRecipe
from tests.short_games import east_games
from tests.suphx_pipelines.tournament.small_tournament import SMALL, play

SHORT = replace(
    SMALL, leaderboard=LeaderboardConfig(games=80), decision=replace(SMALL.decision, games=160, opponent="random")
)


def over_ray(workers: int) -> TournamentRecipe:
    """Return the recipe that is played over Ray."""
    return replace(SHORT, on_ray=True, workers=workers)


if __name__ == "__main__":
    with east_games():
        workers = int(sys.argv[2])
        play(Path(sys.argv[1]), over_ray(workers) if "ray" in sys.argv[3:] else replace(SHORT, workers=workers))
