"""The objects of a run: made from the template."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from suphx_cli import cli
from suphx_pipelines.recipe.recipe import MonteCarloRecipe, Recipe
from suphx_pipelines.recipe.recipe_file import load_config
from suphx_platform.cluster.cluster_error import ClusterError
from suphx_platform.cluster.run_manifest import RunNeeds, run_id_of, run_objects
from tests.helm.operator_rules import broken_rules
from tests.suphx_platform.cluster.fake_api_server import Cluster
from tests.suphx_platform.cluster.fake_operator import RECIPE, Command

HOSTILE = [
    "1; touch owned",
    "$HOME",
    "`touch owned`",
    "a && touch owned",
    '"a $(touch owned)"',
    "'a b'",
    "a' || touch owned '",
    "a\ntouch owned",
    "a\\",
    "--set seed=7",
]
SAFE_WORD = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")


def entrypoint(template: dict[str, Any], *overrides: tuple[str, str]) -> str:
    made = run_objects(template, preset="small", run_id="demo-1", recipe="seed = 1\n", overrides=list(overrides))
    return str(made.job["spec"]["entrypoint"])


def words_of_the_driver(command: str, folder: Path) -> list[str]:
    """Return what the driver gets: KubeRay's submitter runs ``ray job submit -- COMMAND`` in a shell; the head's reads
    what Ray's client makes of those words."""
    show = [sys.executable, "-c", "import json, sys; print(json.dumps(sys.argv[1:]))"]
    submitter = ["bash", "-ce", f"{shlex.join(show)} {command}"]
    words = json.loads(subprocess.run(submitter, cwd=folder, capture_output=True, text=True, check=True).stdout)
    head = ["sh", "-c", f"{shlex.join(show)} {subprocess.list2cmdline(words)}"]  # as ray.dashboard.modules.job.cli does
    found: list[str] = json.loads(subprocess.run(head, cwd=folder, capture_output=True, text=True, check=True).stdout)
    return found


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_hostile_text_of_a_recipe_reaches_a_shell(template: dict[str, Any], hostile: str, tmp_path: Path) -> None:
    settings = [("seed", hostile), ("name", hostile), ("storage.endpoint_url", hostile), (hostile, "1")]
    run_id = run_id_of(hostile, {"name": hostile})
    made = run_objects(
        template, preset="small", run_id=run_id, recipe=f"name = {json.dumps(hostile)}\n", overrides=settings
    )
    command = str(made.job["spec"]["entrypoint"])
    assert words_of_the_driver(command, tmp_path) == command.split(" ")
    assert all(SAFE_WORD.fullmatch(word) for word in command.split(" "))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ClusterError):  # the address of the storage, which the chart sets too
        run_objects(template, preset="small", run_id=run_id, recipe="", overrides=[("storage.address", hostile)])
    with pytest.raises(ClusterError, match="its name must begin with a letter"):
        run_objects(template, preset="small", run_id=hostile, recipe="", overrides=[])


def test_what_the_chart_sets_too_is_repeated_or_refused(template: dict[str, Any]) -> None:
    key = "reinforcement.cluster.num_engines"
    assert entrypoint(template, (key, "4")).endswith(f"--set {key}=4")
    for wrong in (key, "reinforcement.cluster"):
        with pytest.raises(ClusterError, match=r"which two shells read\. Use only letters"):
            entrypoint(template, (wrong, "$(nproc)"))


def test_a_run_without_self_play_has_no_pods_for_it(template: dict[str, Any]) -> None:
    groups = []
    for unused in ((), ("simulator", "inference")):
        needs = RunNeeds(unused_groups=unused)
        made = run_objects(template, preset="paper", run_id="demo-1", recipe="", overrides=[], needs=needs)
        assert made.recipe["data"]["rayjob.yaml"].count("groupName: inference") == (not unused)
        groups.append({one["groupName"] for one in made.job["spec"]["rayClusterSpec"]["workerGroupSpecs"]})
    assert groups == [{"simulator", "inference", "learner"}, {"learner"}]


@pytest.mark.parametrize("name", ["Reinforcement run", "1st", "é", "x" * 100])
def test_every_name_of_a_recipe_gives_an_id_that_kubernetes_takes(name: str) -> None:
    run_id = run_id_of(name, {"seed": 1})
    assert len(run_id) <= 47
    assert run_id[0].isalpha()
    assert run_id == run_id_of(name, {"seed": 1}) != run_id_of(name, {"seed": 2})


@pytest.fixture
def no_cluster(helm: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.usefixtures("no_cluster")
@pytest.mark.parametrize("recipe", ["supervised", "dazhong", "mcr", "mcr_laptop"])
def test_recipes_of_every_game_with_tables_of_choices_become_jobs(
    recipe: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "values.yaml").write_text("storage: {address: 's3://bucket/runs'}\nvolumes: {records: games}\n")
    words = ["--preset", "small", "--dry-run=client", "--values", str(tmp_path / "values.yaml")]
    assert cli.main(["launch", recipe, *words]) == 0
    job, config = yaml.safe_load_all(capsys.readouterr().out)
    assert broken_rules(job) == []
    (tmp_path / "recipe.toml").write_text(config["data"]["recipe.toml"])
    assert load_config(Recipe, tmp_path / "recipe.toml") == load_config(Recipe, Path(recipe))


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
    loaded = load_config(MonteCarloRecipe, tmp_path / "recipe.toml", [(key, value) for key, value in settings[1:]])
    assert loaded.cluster.num_simulators == simulators


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


@pytest.mark.usefixtures("no_cluster")
def test_the_preview_needs_helm_and_values_that_the_chart_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    values = tmp_path / "values.yaml"
    preview = ["launch", "reinforcement", "--dry-run=client", "--values", str(values)]
    for text, cause in (("image: {cpu: 3}", "/image/cpu"), ("preset: nosuch", 'preset is "nosuch": use one of')):
        values.write_text(text)
        assert cli.main(preview) == 1
        assert cause in " ".join(capsys.readouterr().err.split())
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cli.main(preview) == 1
    assert "install Helm 3.18 or later" in " ".join(capsys.readouterr().err.split())
