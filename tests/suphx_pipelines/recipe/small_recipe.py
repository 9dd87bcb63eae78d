"""Recipes of runs, and settings with which they learn for seconds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.recipe.recipe_kind import load_run_recipe
from tests.repository import RECIPES

LAPTOP = RECIPES / "laptop.toml"
SMALL_LAPTOP = {
    "records.max_games": "60",
    "records.played_games": "24",
    "net.channels": "8",
    "net.num_blocks": "1",
    "supervised.batch_size": "128",
    "supervised.total_minutes": "0",
    "supervised.min_validations": "0",
    "supervised.max_epochs": "0",
    "supervised.max_steps": "20",
    "supervised.validate_every": "10",
    "split.validation_fraction": "0.1",
    "split.test_fraction": "0.1",
    "split.max_test_samples": "1500",
    "split.max_validation_samples": "200",
    "stream.num_workers": "0",
    "evaluation.hanchans": "8",
    "evaluation.workers": "1",
}
HANDS = (
    *("records.played_games=40", "net.channels=8", "supervised.total_minutes=0", "supervised.max_steps=4"),
    *("supervised.batch_size=64", "evaluation.hanchans=8", "evaluation.workers=1", "reinforcement.max_minutes=0"),
    *("reinforcement.max_updates=2", "reinforcement.evaluate_every=0", "reinforcement.evaluation_hanchans=8"),
    *("reinforcement.final_hanchans=8", "reinforcement.evaluation_workers=1", "reinforcement.simulator.num_tables=32"),
    *("reinforcement.buffer.batch_size=256", "reinforcement.learner.critic_warmup.decisions=500"),
)
"""For games of single hands."""
HAND_PLAYOUTS = (
    *("playouts.num_decisions=80", "playouts.round_decisions=40", "playouts.report_every=1"),
    *("playouts.branches.num_tables=16", "playouts.branches.num_walls=2", "playouts.final_hanchans=0"),
)
MONTE_CARLO = (
    *("learning.games=2", "learning.batches=1", "learning.max_rounds=2", "learning.evaluate_rounds=1"),
    *("learning.evaluate_decks=2", "learning.threads=1", "match.decks=4"),
)
SMALL = {
    "net.channels": "4",
    "net.num_blocks": "1",
    "reinforcement.max_minutes": "0",
    "reinforcement.max_updates": "4",
    "reinforcement.evaluate_every": "0",
    "reinforcement.evaluation_hanchans": "8",
    "reinforcement.evaluation_deals": "0",
    "reinforcement.final_hanchans": "0",
    "reinforcement.report_every": "2",
    "reinforcement.simulator.num_tables": "16",
    "reinforcement.buffer.batch_size": "100",
}


def load_recipe(path: Path, overrides: Sequence[tuple[str, str]] = ()) -> Recipe:
    recipe = load_run_recipe(path, overrides)
    assert isinstance(recipe, Recipe)
    return recipe


def small_recipe(**changes: str) -> Recipe:
    return load_recipe(RECIPES / "reinforcement.toml", [*SMALL.items(), *changes.items()])
