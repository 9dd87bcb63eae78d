"""``suphx run mcr_laptop`` with seconds of learning, and what ``suphx run mcr`` would train."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from suphx.models.checkpoint import load_header
from suphx.models.net_config import NetConfig
from suphx.training.trainer import METRICS_FILE
from suphx_cli import cli
from suphx_pipelines.pipeline import pipeline_stages
from tests.repository import RECIPES
from tests.suphx_pipelines.recipe.small_recipe import HAND_PLAYOUTS, HANDS, load_recipe


@pytest.mark.parametrize("grid", ["4x9", pytest.param("34x1", marks=pytest.mark.slow)])
def test_a_run_learns_on_either_grid(grid: str, runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = (*HANDS, *HAND_PLAYOUTS, f"net.grid={grid}", "net.choice_head=connected")
    words = [word for setting in settings for word in ("--set", setting)]
    assert cli.main(["run", "mcr_laptop", "--runs", str(runs), *words, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    stages = [
        "records",
        "supervised/claim",
        "supervised/discard",
        "evaluation",
        "playouts",
        "reinforcement",
        "sample_game",
    ]
    assert {name: stage["status"] for name, stage in result["stages"].items()} == dict.fromkeys(
        [*stages, "report"], "finished"
    )
    assert "points per game" in result["verdict"]
    page = (runs / result["run_id"] / "report" / "report.html").read_text(encoding="utf-8")
    assert "placement" not in page.replace("average_placement", "")
    assert "Gain of the discard net (points per decision)" in page
    assert result["stages"]["playouts"]["metrics"]["decisions"] >= 80
    folder = runs / result["run_id"] / "reinforcement"
    for match in json.loads((folder / METRICS_FILE).read_text(encoding="utf-8"))["matches"]:
        assert (match["decides"], len(match["points"])) == ("points", match["hanchans"])
        assert match["difference"] == pytest.approx(sum(match["points"]) / match["hanchans"])
    for decision in ("discard", "claim"):
        net = load_header(folder / f"{decision}.safetensors").net
        assert isinstance(net, NetConfig)
        assert (net.grid, net.choice_head) == (grid, "connected")


def test_the_large_recipe_gives_each_net_its_batch_and_learning_rate() -> None:
    recipe = load_recipe(RECIPES / "mcr.toml", [])
    names = [stage.name for stage in pipeline_stages(recipe)]
    assert names == ["records", "supervised/claim", "supervised/discard", "evaluation", "sample_game", "report"]
    settings = [recipe.supervised.of_kind(number) for number in range(2)]
    assert [(each.batch_size, each.learning_rate) for each in settings] == [(2048, 3e-4), (1024, 1e-4)]
    same = replace(recipe.supervised, call_batch_size=0, call_learning_rate=0.0)
    assert (same.of_kind(1).batch_size, same.of_kind(1).learning_rate) == (2048, 3e-4)
