"""A tournament of short games in a process of its own, which can be killed: ``python -m … RUNS WORKERS [ray]``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from suphx.games.riichi.table.rules import Rules
from suphx_pipelines.recipe.tournament_recipe import LeaderboardConfig, TournamentRecipe
from tests.suphx_pipelines.tournament.small_tournament import SMALL, play

SHORT = replace(
    SMALL,
    leaderboard=LeaderboardConfig(hanchans=80),
    decision=replace(SMALL.decision, hanchans=160, baseline="random"),
)


def one_deal_rules() -> Rules:
    """Return rules by which a game ends after one deal."""
    rules = Rules(num_winds=1, extra_wind=False, bust="at zero", riichi_needs_points=False)
    object.__setattr__(rules, "start_points", 0)  # refused for real games: any result of a deal leaves a seat without
    return rules


def over_ray(workers: int) -> TournamentRecipe:
    """Return the recipe that is played over Ray."""
    return replace(SHORT, on_ray=True, workers=workers)


if __name__ == "__main__":
    with pytest.MonkeyPatch.context() as patch:
        for module in ("match", "tournament"):
            patch.setattr(f"suphx.evaluation.{module}.tenhou", one_deal_rules)
        workers = int(sys.argv[2])
        play(Path(sys.argv[1]), over_ray(workers) if "ray" in sys.argv[3:] else replace(SHORT, workers=workers))
