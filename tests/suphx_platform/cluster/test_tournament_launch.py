"""The nightly pod launches a tournament as a RayJob, follows it and removes it, with the rights of its own Role."""

from __future__ import annotations

import itertools
import re
import shlex
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from helm_python import Chart

from suphx_cli import cli
from suphx_pipelines.recipe.recipe_kind import load_tournament_recipe
from suphx_pipelines.runs.run_origin import derived_run_id
from suphx_pipelines.tournament.history import is_night_of
from suphx_platform.cluster.run_manifest import MAX_JOB_NAME, results_id
from tests.repository import RECIPES, REPOSITORY
from tests.suphx_platform.cluster.fake_api_server import Cluster, Reaction
from tests.suphx_platform.cluster.fake_operator import Command, Operator

RECIPE = RECIPES / "nightly.toml"
VALUES: dict[str, Any] = {
    "nightly": {"enabled": True, "recipe": RECIPE.read_text(encoding="utf-8"), "workers": 2, "cpu": "3"},
    "storage": {"address": "s3://bucket/runs"},
    "tracking": {"uri": "https://mlflow.example.org"},
}


@pytest.fixture
def nightly(cluster: Cluster) -> list[str]:
    """Have the cluster installed with pods for tournaments; the command of the night's pod, which has its rights."""
    texts = Chart.load(REPOSITORY / "helm" / "suphx").render(VALUES, name="suphx", namespace="suphx")
    found = [one for path, text in texts.items() if path.endswith(".yaml") for one in yaml.safe_load_all(text) if one]
    named = {(one["kind"], one["metadata"]["name"]): one for one in found}
    cluster.put("configmaps", named["ConfigMap", "suphx-run-template"])
    cluster.rules = named["Role", "suphx-nightly"]["rules"]
    pod = named["CronJob", "suphx-nightly"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    program, command, _, *options = pod["containers"][0]["args"]
    assert (program, command) == ("suphx", "launch")
    return [command, str(RECIPE), *options]


def submitted(cluster: Cluster, operator: Operator, outcome: str) -> str:
    """Launch the tournament without waiting, and let Ray report its outcome when somebody reads the log."""
    code = cli.main(["launch", str(RECIPE), "--json"])
    assert code == 0
    (run,) = cluster.names("rayjobs")
    roles = {name: cluster.objects["pods", name]["metadata"]["labels"]["suphx/role"] for name in cluster.names("pods")}
    (submitter,) = [name for name, role in roles.items() if role == "submitter"]
    cluster.logs[submitter] = ["2026-11-21T10:00:00Z a line of the night"]
    cluster.reactions.append(Reaction("GET", "/log", partial(operator.report, run, outcome)))
    return run


def test_a_tournament_is_a_rayjob_of_its_night(
    cluster: Cluster, nightly: list[str], operator: Operator, suphx: Command, tmp_path: Path
) -> None:
    before = f"{datetime.now(UTC):%Y-%m-%d}"
    code, result, _ = suphx("launch", str(RECIPE))
    assert (code, result["state"], result["preset"]) == (0, "running", "nightly")
    assert result["pods"] == {"head": {"ready": 1, "wanted": 1}, "simulator": {"ready": 2, "wanted": 2}}
    run = result["run_id"]
    assert run.startswith("nightly-")
    assert len(run) <= MAX_JOB_NAME
    (tmp_path / "recipe.toml").write_text(cluster.objects["configmaps", f"{run}-recipe"]["data"]["recipe.toml"])
    tonight = load_tournament_recipe(tmp_path / "recipe.toml").night
    assert tonight in {before, f"{datetime.now(UTC):%Y-%m-%d}"}
    assert 'night = ""' not in (tmp_path / "recipe.toml").read_text()
    for night, is_same in ((tonight, True), ("2020-01-01", False)):
        _, again, _ = suphx("launch", str(RECIPE), "--set", f"night={night}")
        assert (again["run_id"] == run) == is_same


def test_a_tournament_of_another_game_is_played_by_as_many_pods(
    cluster: Cluster, nightly: list[str], operator: Operator, suphx: Command, tmp_path: Path
) -> None:
    code, result, _ = suphx("launch", "doudizhu_tournament", "--set", "night=2026-11-27")
    assert (code, result["state"]) == (0, "running")
    assert result["pods"] == {"head": {"ready": 1, "wanted": 1}, "simulator": {"ready": 2, "wanted": 2}}
    run = result["run_id"]
    (tmp_path / "recipe.toml").write_text(cluster.objects["configmaps", f"{run}-recipe"]["data"]["recipe.toml"])
    settings = re.findall(r"--set (on_ray=\S+|workers=\S+)", cluster.objects["rayjobs", run]["spec"]["entrypoint"])
    overrides = [(key, value) for key, value in (setting.split("=") for setting in settings)]
    recipe = load_tournament_recipe(tmp_path / "recipe.toml", overrides)
    assert (recipe.night, recipe.on_ray, recipe.workers) == ("2026-11-27", True, 6)


def test_the_pod_of_the_night_follows_the_tournament_and_removes_it(
    cluster: Cluster, nightly: list[str], operator: Operator, capsys: pytest.CaptureFixture[str]
) -> None:
    run = submitted(cluster, operator, "SUCCEEDED")
    capsys.readouterr()

    def slow_operator(kind: str, body: dict[str, Any]) -> None:
        """Remove the finalizer of a RayJob that is deleted only when somebody watches it."""
        if "deletionTimestamp" not in body["metadata"]:
            operator(kind, body)

    cluster.operator = slow_operator
    cluster.reactions.append(Reaction("GET", "watch=", partial(operator, "rayjobs", {"metadata": {"name": run}})))
    assert cli.main(nightly) == 0, capsys.readouterr().err  # as a second pod of the same night does
    assert "a line of the night" in capsys.readouterr().out
    assert cluster.names("rayjobs") == []
    assert f"{run}-recipe" not in cluster.names("configmaps")
    # A recipe that is left of a RayJob which somebody removed is replaced: the only patch.
    cluster.put("configmaps", {"metadata": {"name": f"{run}-recipe"}, "data": {}})
    submitted(cluster, operator, "SUCCEEDED")
    assert cluster.rules is not None
    allowed = {
        (group, resource, verb)
        for rule in cluster.rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert cluster.used_rights == allowed


def test_what_is_left_of_earlier_nights_is_deleted_before_a_night_begins(
    cluster: Cluster, nightly: list[str], operator: Operator, suphx: Command, tmp_path: Path
) -> None:
    other = tmp_path / "other.toml"
    other.write_text(RECIPE.read_text(encoding="utf-8").replace('name = "nightly"', 'name = "nightly-other"'))
    kept = {suphx("launch", str(other))[1]["run_id"]}
    for night, outcome in (("2020-01-01", "FAILED"), ("2020-01-02", "")):
        run = suphx("launch", str(RECIPE), "--set", f"night={night}")[1]["run_id"]
        if outcome:  # its pods are gone, and its RayJob stays
            job = cluster.objects["rayjobs", run]
            cluster.put("rayjobs", {**job, "spec": {**job["spec"], "backoffLimit": 0}})
            operator.report(run, outcome)
            assert suphx("status", run)[1]["state"] == "failed"
    of_another_release = suphx("launch", str(RECIPE), "--set", "night=2020-01-03")[1]["run_id"]
    job = cluster.objects["rayjobs", of_another_release]
    job["metadata"]["labels"]["app.kubernetes.io/instance"] = "another"
    kept |= {of_another_release}
    options = [option for option in nightly if option not in ("--follow", "--rm")]
    code, result, err = suphx(*options)
    assert (code, result["state"]) == (0, "running"), err
    assert set(cluster.names("rayjobs")) == kept | {result["run_id"]}
    recipes = {name for name in cluster.names("configmaps") if name.endswith("-recipe")}
    assert recipes == {f"{run}-recipe" for run in cluster.names("rayjobs")}
    assert suphx(*options)[1]["run_id"] == result["run_id"]  # another pod of the same night leaves it as it is
    assert set(cluster.names("rayjobs")) == kept | {result["run_id"]}


def test_the_rayjob_of_a_tournament_knows_under_which_id_its_night_is_found(
    cluster: Cluster, nightly: list[str], operator: Operator, suphx: Command, tmp_path: Path
) -> None:
    run = suphx("launch", "doudizhu_tournament")[1]["run_id"]
    job = cluster.objects["rayjobs", run]
    (tmp_path / "recipe.toml").write_text(cluster.objects["configmaps", f"{run}-recipe"]["data"]["recipe.toml"])
    words = shlex.split(job["spec"]["entrypoint"])
    assert "--run-id" not in words
    changes = [after.partition("=") for word, after in itertools.pairwise(words) if word == "--set"]
    recipe = load_tournament_recipe(tmp_path / "recipe.toml", [(key, value) for key, _, value in changes])
    side_tournament = derived_run_id(recipe)
    assert results_id(job) == side_tournament != run
    assert is_night_of("doudizhu_tournament", side_tournament)
    cluster.rules = None  # a person's rights, not those of the night's pod
    assert suphx("stop", run)[0] == 0
    assert suphx("resume", run)[0] == 0
    assert results_id(cluster.objects["rayjobs", run]) == side_tournament
    code, result, err = suphx("delete", run, "--yes")
    stored, tracked = result["kept"]
    assert (code, f"s3://bucket/runs/{side_tournament}" in stored) == (0, True), err
    assert f"{side_tournament} in MLflow (https://mlflow.example.org)" in tracked


def test_a_tournament_that_fails_fails_its_pod_and_is_kept(
    cluster: Cluster, nightly: list[str], operator: Operator, capsys: pytest.CaptureFixture[str]
) -> None:
    run = submitted(cluster, operator, "FAILED")
    job = cluster.objects["rayjobs", run]
    cluster.put("rayjobs", {**job, "spec": {**job["spec"], "backoffLimit": 0}})
    assert cli.main(nightly) == 1
    assert f"{run} is failed: see suphx status {run}" in " ".join(capsys.readouterr().err.split())
    assert cluster.names("rayjobs") == [run]
