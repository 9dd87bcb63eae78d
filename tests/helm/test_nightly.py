"""The nightly tournament runs the command that exists, with the shipped recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import kubernetes_validate

from suphx_cli.cli import build_parser
from suphx_pipelines.recipe.tournament_recipe import load_tournament_recipe
from tests.helm.everything import Render, find
from tests.repository import RECIPES

RECIPE = RECIPES / "nightly.toml"
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


def cron_job(render: Render, **nightly: Any) -> dict[str, Any]:
    return find(render({**VALUES, "nightly": {**VALUES["nightly"], **nightly}}), "CronJob", "suphx-nightly")


def test_two_nights_do_not_meet(render: Render) -> None:
    spec = cron_job(render)["spec"]
    assert spec["concurrencyPolicy"] == "Forbid"
    assert spec["jobTemplate"]["spec"]["activeDeadlineSeconds"] < 24 * 3600


def test_a_night_starts_by_the_rules_of_the_cron_controller(render: Render) -> None:
    found = cron_job(render, timeZone="Europe/Berlin", schedule="30 1 * * 1-5")
    spec = found["spec"]
    assert len(found["metadata"]["name"]) <= 52  # the controller adds 11 characters for the name of a Job
    assert (spec["schedule"], spec["timeZone"]) == ("30 1 * * 1-5", "Europe/Berlin")
    assert ZoneInfo(cron_job(render)["spec"]["timeZone"]).key == "Etc/UTC"
    assert "TZ" not in spec["schedule"]  # refused since Kubernetes 1.29
    assert not spec.get("suspend")
    # A controller that was down starts the night up to an hour late, once; under 10 seconds it may never start one.
    assert 10 < spec["startingDeadlineSeconds"] < 24 * 3600
    assert (spec["successfulJobsHistoryLimit"], spec["failedJobsHistoryLimit"]) == (3, 3)


def test_the_job_of_a_night_is_one_that_kubernetes_takes(render: Render) -> None:
    found = cron_job(render)
    template = found["spec"]["jobTemplate"]
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "suphx-nightly", "uid": "1", "controller": True}
    metadata = {
        "name": "suphx-nightly-29393160",  # minutes since 1970 of the planned time
        "annotations": {"batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-11-22T02:00:00Z"},
        "ownerReferences": [owner],
        **template.get("metadata", {}),
    }
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": template["spec"]}
    for version in ("1.29", "1.36"):
        kubernetes_validate.validate(job, version, strict=True)
    spec = job["spec"]
    assert spec["template"]["spec"]["restartPolicy"] == "Never"  # which podFailurePolicy needs
    assert spec["backoffLimit"] == 1
    (rule,) = spec["podFailurePolicy"]["rules"]  # a drained node costs no retry: the games go on from the storage
    assert (rule["action"], rule["onPodConditions"][0]["type"]) == ("Ignore", "DisruptionTarget")
    assert "selector" not in spec  # the controller makes it
