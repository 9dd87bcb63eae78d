"""The nightly tournament runs the command that exists, with the shipped recipe."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from suphx_pipelines.tournament_recipe import load_tournament_recipe
from suphx_platform.cli import build_parser
from tests.helm.everything import find

Render = Callable[..., list[dict[str, Any]]]
RECIPE = Path(__file__).resolve().parents[2] / "pipelines" / "recipes" / "nightly.toml"
VALUES: dict[str, Any] = {
    "nightly": {"enabled": True, "recipe": RECIPE.read_text(encoding="utf-8"), "cpu": "6"},
    "storage": {"address": "s3://bucket/runs"},
    "tracking": {"uri": "https://mlflow.example.org"},
}


def test_the_recipe_that_is_shipped_goes_through_unchanged(render: Render, tmp_path: Path) -> None:
    written = tmp_path / "nightly.toml"
    data = find(render(VALUES), "ConfigMap", "suphx-nightly")["data"]
    written.write_text(data["nightly.toml"], encoding="utf-8")
    assert load_tournament_recipe(written, []) == load_tournament_recipe(RECIPE, [])


def test_it_plays_with_its_cores_and_takes_checkpoints_from_the_bucket(render: Render) -> None:
    job = find(render(VALUES), "CronJob", "suphx-nightly")["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    command = job["containers"][0]["command"]
    assert command[0] == "suphx"
    args = build_parser().parse_args(command[1:])
    assert str(args.recipe) == "/recipes/nightly.toml"
    recipe = load_tournament_recipe(RECIPE, args.overrides)
    assert (recipe.workers, recipe.storage.address) == (6, "s3://bucket/runs")


def test_two_nights_do_not_meet(render: Render) -> None:
    spec = find(render(VALUES), "CronJob", "suphx-nightly")["spec"]
    assert spec["concurrencyPolicy"] == "Forbid"
    assert spec["jobTemplate"]["spec"]["activeDeadlineSeconds"] < 24 * 3600
