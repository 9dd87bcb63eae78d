"""The nightly tournament runs the command that exists, with the shipped recipe."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import kubernetes_validate
import pytest
from helm_python import HelmError

from suphx_cli.cli import build_parser
from suphx_pipelines.recipe.recipe_kind import load_tournament_recipe
from suphx_pipelines.recipe.tournament_recipe import tonight
from suphx_platform.cluster.run_manifest import tournament_objects
from tests.helm.everything import PRESETS, Render, find, groups
from tests.helm.kuberay_schema import KubeRaySchemas
from tests.helm.operator_rules import broken_rules
from tests.helm.security.restricted_pod import violations
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


def test_a_recipe_may_begin_with_spaces(render: Render) -> None:
    text = '  name = "n"\n\n[pool]\nnewest = 1\n'
    values = {**VALUES, "nightly": {**VALUES["nightly"], "recipe": text}, "run": {"name": "r", "recipe": text}}
    objects = render(values)
    assert find(objects, "ConfigMap", "suphx-nightly")["data"]["nightly.toml"] == text
    assert find(objects, "ConfigMap", "r-recipe")["data"]["recipe.toml"] == text


def test_it_plays_with_its_cores_and_takes_checkpoints_from_the_bucket(render: Render) -> None:
    job = find(render(VALUES), "CronJob", "suphx-nightly")["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert job["containers"][0]["command"] == ["tini", "--"]
    command = job["containers"][0]["args"]
    assert command[0] == "suphx"
    args = build_parser().parse_args(command[1:])
    assert str(args.recipe) == "/recipes/nightly.toml"
    recipe = load_tournament_recipe(RECIPE, args.overrides)
    assert (recipe.workers, recipe.storage.address) == (6, "s3://bucket/runs")


def cron_job(render: Render, **nightly: Any) -> dict[str, Any]:
    return find(render({**VALUES, "nightly": {**VALUES["nightly"], **nightly}}), "CronJob", "suphx-nightly")


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


RAY = {**VALUES, "nightly": {**VALUES["nightly"], "workers": 5}}


def tournament(render: Render, **values: Any) -> dict[str, Any]:
    """The RayJob that the pod of the night creates."""
    template = find(render({**RAY, **values}), "ConfigMap", "suphx-run-template")
    return tournament_objects(template, results_id="nightly-1", run_id="nightly-1", recipe="", overrides=[]).job


def test_with_workers_the_pod_launches_and_ray_plays_with_every_core(render: Render) -> None:
    job = find(render(RAY), "CronJob", "suphx-nightly")["spec"]["jobTemplate"]["spec"]
    pod = job["template"]["spec"]
    words = pod["containers"][0]["args"]
    assert words[:2] == ["suphx", "launch"]
    args = build_parser().parse_args(words[1:])
    assert (str(args.recipe), args.release) == ("/recipes/nightly.toml", "suphx")
    assert (args.replace, args.follow, args.rm) == (True, True, True)
    spec = tournament(render)["spec"]
    command = shlex.split(spec["entrypoint"])
    played = build_parser().parse_args(command[1:])
    recipe = load_tournament_recipe(RECIPE, played.overrides)
    assert (str(played.recipe), recipe.on_ray, recipe.workers) == ("/recipes/recipe.toml", True, 30)
    assert recipe.storage.address == "s3://bucket/runs"
    assert job["backoffLimit"] == 3
    (group,) = spec["rayClusterSpec"]["workerGroupSpecs"]
    assert [group[key] for key in ("minReplicas", "replicas", "maxReplicas")] == [5, 5, 5]
    assert group["template"]["spec"]["containers"][0]["resources"]["limits"]["cpu"] == "6"
    assert spec["rayClusterSpec"]["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0", "no game beside the driver"


@pytest.mark.parametrize("retries", [0, 1, 2])
def test_all_attempts_of_a_tournament_end_before_the_pod_that_waits_for_it(render: Render, retries: int) -> None:
    values = {"run": {"backoffLimit": 7}, "nightly": {**RAY["nightly"], "backoffLimit": retries}}
    spec = tournament(render, **values)["spec"]
    assert spec["backoffLimit"] == retries
    job = find(render({**RAY, **values}), "CronJob", "suphx-nightly")["spec"]["jobTemplate"]["spec"]
    assert spec["activeDeadlineSeconds"] * (retries + 1) == 22 * 3600 < job["activeDeadlineSeconds"] < 24 * 3600
    one_pod = cron_job(render, backoffLimit=retries)["spec"]["jobTemplate"]["spec"]
    assert (one_pod["backoffLimit"], one_pod["activeDeadlineSeconds"]) == (retries, 22 * 3600)


def test_the_pod_that_launches_has_rights_of_its_own(render: Render) -> None:
    objects = render(RAY)
    pod = find(objects, "CronJob", "suphx-nightly")["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert (pod["serviceAccountName"], pod["automountServiceAccountToken"]) == ("suphx-nightly", True)
    assert find(objects, "RoleBinding", "suphx-nightly")["subjects"] == [
        {"kind": "ServiceAccount", "name": "suphx-nightly", "namespace": "mahjong"}
    ]
    for one in objects:
        if one["metadata"]["name"] == "suphx-nightly":
            for version in ("1.29", "1.36"):
                kubernetes_validate.validate(one, version, strict=True)
    launcher = find(objects, "Role", "suphx-launcher")["rules"]
    for rule, whole in zip(find(objects, "Role", "suphx-nightly")["rules"], launcher, strict=True):
        assert (rule["apiGroups"], rule["resources"]) == (whole["apiGroups"], whole["resources"])
        assert set(rule["verbs"]) <= set(whole["verbs"])
        assert rule["resources"] not in (["rayjobs"], ["rayclusters"]) or "patch" not in rule["verbs"]


CRON = {**RAY, "nightly": {**RAY["nightly"], "rayCronJob": True, "timeZone": "Europe/Berlin"}}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_raycronjob_creates_the_same_rayjob(render: Render, kuberay: KubeRaySchemas, preset: str) -> None:
    objects = render({**CRON, "preset": preset})
    cron = find(objects, "RayCronJob", "suphx-nightly")
    assert kuberay.errors(cron) == []
    assert (cron["spec"]["schedule"], cron["spec"]["timeZone"]) == ("0 2 * * *", "Europe/Berlin")
    kinds = {one["kind"] for one in objects if one["metadata"]["name"] == "suphx-nightly"}
    assert kinds == {"RayCronJob", "ServiceAccount"}, "it needs neither a pod that launches nor rights for it"
    name = f"{cron['metadata']['name']}-29393160"  # as KubeRay names it: minutes since 1970 of the planned time
    job = {"kind": "RayJob", "metadata": {"name": name}, "spec": cron["spec"]["jobTemplate"]}
    assert broken_rules(job) == []
    launched = tournament(render, preset=preset)["spec"]
    for key in ("entrypoint", "backoffLimit", "activeDeadlineSeconds"):
        assert job["spec"][key] == launched[key]
    for role, group in groups(job):
        assert violations(group["template"]["spec"]) == [], role
    head = dict(groups(job))["head"]["template"]["spec"]
    (recipe,) = [volume["configMap"]["name"] for volume in head["volumes"] if volume["name"] == "recipe"]
    assert find(objects, "ConfigMap", recipe)["data"] == {"recipe.toml": RECIPE.read_text(encoding="utf-8")}
    kept = [(rule["policy"], *rule["condition"].values()) for rule in job["spec"]["deletionStrategy"]["deletionRules"]]
    assert ("DeleteSelf", "SUCCEEDED", 60) in kept, "KubeRay deletes no RayJobs of earlier nights"


def test_every_attempt_of_a_rayjob_of_a_raycronjob_plays_its_night(
    render: Render, monkeypatch: pytest.MonkeyPatch
) -> None:
    cron = find(render(CRON), "RayCronJob", "suphx-nightly")
    spec = cron["spec"]["jobTemplate"]["rayClusterSpec"]
    variables = {one["name"]: one for one in spec["headGroupSpec"]["template"]["spec"]["containers"][0]["env"]}
    assert variables["SUPHX_CRON_JOB"]["valueFrom"] == {"fieldRef": {"fieldPath": "metadata.labels['ray.io/cluster']"}}
    monkeypatch.setenv("SUPHX_TIME_ZONE", variables["SUPHX_TIME_ZONE"]["value"])
    yesterday = datetime.now(UTC) - timedelta(hours=30)
    for attempt in ("abcde", "9xk2p"):
        name = f"suphx-nightly-{int(yesterday.timestamp()) // 60}-{attempt}"  # of the RayCluster of an attempt
        monkeypatch.setenv("SUPHX_CRON_JOB", name)
        assert tonight() == f"{yesterday.astimezone(ZoneInfo('Europe/Berlin')):%Y-%m-%d}"


@pytest.mark.parametrize(
    ("values", "cause"),
    [
        ({"nightly": {**CRON["nightly"], "workers": 0}}, "needs nightly.workers"),
        ({"kueue": {"queueName": "suphx"}}, "passes no labels"),
        ({"rayJob": {"labels": {"volcano.sh/queue-name": "q"}}}, "passes no labels"),
        ({"fullnameOverride": "s" * 29}, "at most 28 characters"),
    ],
)
def test_what_a_raycronjob_cannot_do_is_refused(render: Render, values: dict[str, Any], cause: str) -> None:
    with pytest.raises(HelmError, match=cause):
        render({**CRON, **values})


@pytest.mark.parametrize("preset", PRESETS)
def test_the_operator_takes_the_tournament(render: Render, kuberay: KubeRaySchemas, preset: str) -> None:
    job = tournament(render, preset=preset)
    assert broken_rules(job) == []
    assert kuberay.errors(job) == []
    for name, group in groups(job):
        assert violations(group["template"]["spec"]) == [], name
    head = dict(groups(job))["head"]["template"]["spec"]["containers"][0]
    assert "lifecycle" in head, "a night that is stopped stores its state"
