"""How strong the nets are during a training: a small match against scripted agents, always on the same deals."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import nn

from suphx.games.candidate_game import CandidateGame
from suphx.training.monte_carlo.monte_carlo_config import MonteCarloConfig
from suphx.training.monte_carlo.value_player import ValuePlayer

Figures = dict[str, dict[str, float]]
"""Opponent -> ``wp_<side>``, ``adp_<side>`` and the standard error of each, ``…_error``."""


def evaluate_nets(
    config: MonteCarloConfig, game: CandidateGame, rules: Any, nets: nn.ModuleList, *, is_bf16: bool
) -> Figures:
    """Play ``evaluate_decks`` deals against each opponent, with the nets on each side."""
    player = ValuePlayer(nets.eval(), game.candidate_columns(rules), is_bf16=is_bf16)
    found: Figures = {}
    for opponent in config.opponents:
        results = game.play_match(config.evaluate_decks, rules, player, game.scripted_player(opponent))
        found[opponent] = {}
        for side, reached in results.items():
            for measure, numbers in (("wp", reached.wins), ("adp", reached.points)):
                values = numbers.astype(np.float64)
                found[opponent][f"{measure}_{side}"] = float(values.mean())
                found[opponent][f"{measure}_{side}_error"] = float(values.std() / np.sqrt(len(values)))
    return found
