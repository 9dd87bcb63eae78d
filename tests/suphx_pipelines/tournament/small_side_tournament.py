"""A tournament of seconds in a game of two sides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from suphx.evaluation.measures import SequentialConfig
from suphx.games.doudizhu.table import Rules
from suphx.models.candidate_net import CandidateNet
from suphx.training.monte_carlo import new_nets
from suphx_pipelines.recipe.tournament_recipe import DecisionConfig, LeaderboardConfig, TournamentRecipe
from suphx_pipelines.tournament.tournament import run_tournament
from suphx_platform.console.console import Console
from tests.games.doudizhu import builders

SMALL = TournamentRecipe(
    game="doudizhu",
    name="nightly",
    night="1",
    workers=1,
    leaderboard=LeaderboardConfig(games=160),
    decision=DecisionConfig(games=800, fresh_games=40, test=SequentialConfig(difference=0.2, error=0.05)),
)


def save_nets(folder: Path, seed: int, rules: Rules | None = None) -> Path:
    """Leave nets that have learned nothing, as a finished training does."""
    return builders.save_nets(folder, rules, seed=seed)


def save_strong_nets(folder: Path) -> Path:
    """Leave nets that play the most cards they can: they beat those of ``save_nets`` in nearly all games."""
    nets = new_nets(builders.GAME, 0)
    for net in nets.nets:
        assert isinstance(net, CandidateNet)
        with torch.no_grad():
            for parameter in net.parameters():
                parameter.zero_()
            net.first.weight[0, -net.layout.candidate :] = 1
            for layer in net.others:
                assert isinstance(layer, torch.nn.Linear)
                layer.weight[0, 0] = 1
            net.output.weight[0, 0] = 1
    return builders.save_nets(folder, nets=nets)


def play(runs: Path, recipe: TournamentRecipe = SMALL) -> dict[str, Any]:
    """Play the tournament and return its JSON."""
    return run_tournament(recipe, runs=runs, console=Console()).to_json()
