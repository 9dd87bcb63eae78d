"""``suphx launch --dry-run``: on the client without any cluster, on the server with strict checks."""

from __future__ import annotations

import shlex
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from suphx_cli import cli
from suphx_pipelines.recipe.monte_carlo_recipe import load_monte_carlo_recipe
from suphx_platform.cluster.manifest_rules import broken_rules
from tests.repository import REPOSITORY
from tests.suphx_platform.cluster.runs.cluster_store import Cluster
from tests.suphx_platform.cluster.runs.launched_run import RECIPE, Command


@pytest.fixture
def no_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.usefixtures("no_cluster")
def test_the_client_prints_what_would_be_created(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--preset", "paper", "--set", "reinforcement.max_updates=7", "--dry-run=client"]
    assert cli.main(["launch", str(RECIPE), *arguments]) == 0
    job, recipe = yaml.safe_load_all(capsys.readouterr().out)
    assert (job["kind"], recipe["kind"]) == ("RayJob", "ConfigMap")
    assert recipe["metadata"]["name"] == f"{job['metadata']['name']}-recipe"
    assert broken_rules(job) == []
    assert "--set reinforcement.max_updates=7" in job["spec"]["entrypoint"]
    assert "max_updates = 7" in recipe["data"]["recipe.toml"]
    groups = {group["groupName"]: group for group in job["spec"]["rayClusterSpec"]["workerGroupSpecs"]}
    assert groups["inference"]["replicas"] == 40


@pytest.mark.usefixtures("no_cluster")
def test_the_client_takes_values_of_the_chart(capsys: pytest.CaptureFixture[str]) -> None:
    values = str(REPOSITORY / "k8s" / "overlays" / "small" / "values.yaml")
    assert cli.main(["launch", str(RECIPE), "--dry-run=client", "--values", values]) == 0
    assert "suphx/pool: spot" in capsys.readouterr().out


@pytest.mark.usefixtures("no_cluster")
@pytest.mark.parametrize(("preset", "simulators", "gpus"), [("small", 12, 1), ("laptop-kind", 1, 0)])
def test_a_recipe_of_another_game_gets_the_keys_and_the_pods_that_it_has(
    preset: str, simulators: int, gpus: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "values.yaml").write_text("storage: {address: 's3://bucket/runs'}\nvolumes: {records: games}\n")
    words = ["--preset", preset, "--dry-run=client", "--values", str(tmp_path / "values.yaml")]
    assert cli.main(["launch", "doudizhu_dmc", *words, "--set", "learning.max_minutes=5"]) == 0
    job, recipe = yaml.safe_load_all(capsys.readouterr().out)
    assert broken_rules(job) == []
    groups = {group["groupName"] for group in job["spec"]["rayClusterSpec"]["workerGroupSpecs"]}
    assert groups == {"simulator", "learner"}
    words = shlex.split(job["spec"]["entrypoint"])
    assert "--records" not in words
    settings = [word.partition("=")[::2] for option, word in pairwise(words) if option == "--set"]
    assert dict(settings) == {
        "storage.address": "s3://bucket/runs",
        "cluster.on_ray": "true",
        "cluster.num_simulators": str(simulators),
        "cluster.gpus_per_learner": str(gpus),
        "learning.max_minutes": "5",
    }
    (tmp_path / "recipe.toml").write_text(recipe["data"]["recipe.toml"])
    loaded = load_monte_carlo_recipe(tmp_path / "recipe.toml", [(key, value) for key, value in settings[1:]])
    assert loaded.cluster.num_simulators == simulators


@pytest.mark.usefixtures("no_cluster")
def test_errors_of_the_client_name_the_fix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "values.yaml").write_text("presett: small\n")
    for arguments, message in (
        (["--dry-run=client", "--preset", "huge"], "use one of laptop-kind, paper, small"),
        (["--dry-run=client", "--values", str(tmp_path / "values.yaml")], "'presett' not allowed"),
        (["--dry-run=client", "--values", str(tmp_path / "none.yaml")], "cannot be read"),
        (["--values", "values.yaml"], "--values belongs to --dry-run=client"),
        (["--dry-run"], "No cluster configured. Set KUBECONFIG to your kubeconfig file"),
    ):
        code = 2 if arguments[0] == "--values" else 1
        assert cli.main(["launch", str(RECIPE), *arguments]) == code
        assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("options", [["--dry-run=client"], []], ids=["dry run", "launch"])
@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("name=My Run", "name is 'My Run': use 1 to 63 lower-case letters"),
        ("playouts.num_decisions=100", "playouts.num_decisions needs supervised learning"),
    ],
)
def test_a_recipe_that_its_command_would_refuse_is_not_launched(
    cluster: Cluster, suphx: Command, options: list[str], setting: str, message: str
) -> None:
    code, _, err = suphx("launch", str(RECIPE), "--set", setting, *options)
    assert code == 1
    assert message in err
    assert cluster.names("rayjobs") == []


def test_the_client_creates_what_it_printed(
    cluster: Cluster, suphx: Command, template: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "values.yaml").write_text("storage: {address: 's3://bucket/runs'}\n")
    values = ["--values", str(tmp_path / "values.yaml")]
    _, shown, _ = suphx("launch", str(RECIPE), "--dry-run=client", *values)
    assert cluster.requests == []
    suphx("launch", str(RECIPE))
    job, recipe = shown["objects"]
    assert cluster.objects["rayjobs", shown["run_id"]]["spec"] == job["spec"]
    assert cluster.objects["configmaps", f"{shown['run_id']}-recipe"]["data"] == recipe["data"]


@pytest.mark.parametrize("option", ["--dry-run", "--dry-run=server"])
def test_the_server_checks_and_creates_nothing(cluster: Cluster, suphx: Command, option: str) -> None:
    code, result, err = suphx("launch", str(RECIPE), option)
    assert (code, result["state"], result["dry_run"]) == (0, "starting", "server")
    assert "the server accepts it" in err
    assert cluster.names("rayjobs") == []


@pytest.mark.parametrize("options", [["--dry-run=server"], []], ids=["dry run", "launch"])
def test_unknown_fields_are_errors(cluster: Cluster, suphx: Command, options: list[str]) -> None:
    data = cluster.objects["configmaps", "suphx-run-template"]["data"]
    wrong = yaml.safe_load(data["rayjob-small.yaml"])
    wrong["spec"]["shutdownAfterJobFinishe"] = True
    data["rayjob-small.yaml"] = yaml.safe_dump(wrong)
    code, _, err = suphx("launch", str(RECIPE), *options)
    assert code == 1
    assert 'unknown field "spec.shutdownAfterJobFinishe"' in err
    assert (cluster.names("rayjobs"), cluster.names("configmaps")) == ([], ["suphx-run-template"])
