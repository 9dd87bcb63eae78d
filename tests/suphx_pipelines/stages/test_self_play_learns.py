"""What a shipped recipe of self-play reaches, measured as a user would: minutes of one core."""

from __future__ import annotations

from pathlib import Path

import pytest

from suphx import play_match
from suphx_pipelines.json_file import read_json
from suphx_pipelines.pipeline import run_recipe
from suphx_pipelines.report.report_self_play import largest_distance
from suphx_platform.console.console import Console
from tests.repository import RECIPES
from tests.suphx_pipelines.recipe.small_recipe import load_recipe

RECIPE = RECIPES / "reinforcement.toml"


@pytest.mark.slow
def test_from_random_weights_a_tiny_net_beats_its_start_and_random_players_and_keeps_its_entropy(runs: Path) -> None:
    recipe = load_recipe(RECIPE)
    done = run_recipe(recipe, records=None, runs=runs, console=Console())
    folder = done.folder / "reinforcement"
    metrics = read_json(folder / "metrics.json")
    last = next(match for match in reversed(metrics["matches"]) if match["policy"] == "argmax")
    assert (last["opponent"], last["updates"]) == ("start", metrics["updates"])
    assert last["interval"][1] < 0
    assert play_match(str(folder), "random", num_hanchans=200, seed=1).difference.interval.high < 0
    distance = largest_distance(metrics, "discard", recipe.reinforcement.learner.entropy.target)
    assert distance is not None
    assert distance <= 0.1
