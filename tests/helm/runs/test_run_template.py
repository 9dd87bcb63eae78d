"""What ``suphx launch`` fills in: a RayJob for every preset."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
import yaml
from helm_python import Chart, HelmValuesError

from suphx_cli.cli import build_parser
from suphx_pipelines.recipe.recipe import Recipe
from suphx_platform.cluster.run_manifest import job_of
from suphx_platform.selfplay.metrics import STOP_SECONDS_VARIABLE
from tests.helm.chart_readme import CHART
from tests.helm.everything import EVERYTHING, Render, cluster_spec, find, groups, parsed, pods
from tests.helm.kuberay_schema import KubeRaySchemas
from tests.helm.operator_rules import broken_rules
from tests.repository import RECIPES
from tests.suphx_pipelines.recipe.small_recipe import load_recipe

RECIPE = RECIPES / "reinforcement.toml"
CHART_VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
PRESETS = ("laptop-kind", "paper", "small")


def template(render: Render, **values: Any) -> dict[str, str]:
    """The data of the ConfigMap that the launcher looks for."""
    found = [one for one in render(values) if one["metadata"]["labels"].get("suphx/run-template") == "true"]
    assert len(found) == 1
    assert found[0]["metadata"]["name"] == "suphx-run-template"
    data: dict[str, str] = found[0]["data"]
    return data


def job(render: Render, preset: str, run_id: str = "demo-1", **values: Any) -> dict[str, Any]:
    """The RayJob that the launcher makes of it."""
    return parsed(template(render, **values)[f"rayjob-{preset}.yaml"].replace("RUN_ID", run_id))


def recipe_of(found: dict[str, Any]) -> Recipe:
    """The recipe as the run's command line makes it."""
    command = shlex.split(found["spec"]["entrypoint"])
    assert command[:3] == ["suphx", "run", "/recipes/recipe.toml"]
    args = build_parser().parse_args(command[1:])
    return load_recipe(RECIPE, args.overrides)


def test_variables_of_the_user_take_the_place_of_the_charts(render: Render) -> None:
    own = {"SUPHX_STOP_METRICS_SECONDS": "90", "RAY_USAGE_STATS_ENABLED": "1", "MINE": "x"}
    extra = {"head": [{"name": name, "value": value} for name, value in own.items()]}
    for values in ({"extraEnv": extra, "podMonitor": {"enabled": True}}, {"podMonitor": {"enabled": True}}):
        head = job(render, "small", **values)["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
        variables = head["containers"][0]["env"]
        found = {one["name"]: one.get("value") for one in variables}
        assert len(found) == len(variables), "no name twice"
        assert (found.items() >= own.items()) == ("extraEnv" in values)
        assert found["RAY_JOB_STOP_WAIT_TIME_S"]


def test_a_head_saves_before_it_ends_and_has_the_time_for_it(render: Render) -> None:
    values: dict[str, Any] = {"run": {"saveSeconds": 1_500_000}}  # a number that YAML may write as 1.5e+06
    night = {"nightly": {**EVERYTHING["nightly"], "workers": 2}, "storage": {"address": "s3://bucket/runs"}}
    tournament = parsed(
        find(render({**EVERYTHING, **night, **values}), "ConfigMap", "suphx-run-template")["data"]["tournament.yaml"]
    )
    for found in (job(render, "small", "demo-1", **values), tournament):
        for name, group in groups(found):
            container = group["template"]["spec"]["containers"][0]
            hook = container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command")
            own = ["python", "-m", "suphx_pipelines.runs.pre_stop", "/runs", "1500000"]
            assert hook == (own if name == "head" else None)
            seconds = group["template"]["spec"]["terminationGracePeriodSeconds"]
            assert seconds == (1_500_030 if name == "head" else 45), "the hook is killed after the grace period"
            variables = {one["name"]: one.get("value") for one in container["env"]}
            assert variables.get("RAY_JOB_STOP_WAIT_TIME_S") == ("1500000" if name == "head" else None)
    long_lived = find(render(EVERYTHING), "RayCluster", "suphx")
    assert all("lifecycle" not in one["template"]["spec"]["containers"][0] for _, one in groups(long_lived))


@pytest.mark.parametrize(
    ("save_seconds", "interval", "shown"),
    [(300, "30s", "60"), (135, "30s", "45"), (90, "30s", "30"), (300, "1m", "90"), (600, "2m", "150")],
)
def test_a_stopped_run_is_scraped_once_more(render: Render, save_seconds: int, interval: str, shown: str) -> None:
    for enabled in (True, False):
        monitor = {"enabled": enabled, "interval": interval}
        found = job(render, "small", "demo-1", podMonitor=monitor, run={"saveSeconds": save_seconds})
        for name, group in groups(found):
            container = group["template"]["spec"]["containers"][0]
            variables = {one["name"]: one.get("value") for one in container["env"]}
            assert variables.get(STOP_SECONDS_VARIABLE) == (shown if enabled and name == "head" else None)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_run_asks_for_as_many_actors_as_its_pods_have_slots(render: Render, preset: str) -> None:
    found = job(render, preset)
    config = recipe_of(found).reinforcement
    workers = {group["groupName"]: group for group in cluster_spec(found)["workerGroupSpecs"]}
    slots = {role: group["replicas"] * int(group["resources"][role]) for role, group in workers.items()}
    assert config.cluster.on_ray
    assert config.cluster.num_simulators == slots["simulator"]
    assert config.cluster.num_engines == slots["inference"]
    assert config.learner.num_learners == slots["learner"]
    assert recipe_of(found).data_parallel.node_resource == "learner"  # only these pods have the keys of the storage


@pytest.mark.parametrize("preset", PRESETS)
def test_the_actors_of_a_pod_fit_its_cpus_and_gpus(render: Render, preset: str) -> None:
    found = job(render, preset)
    cluster = recipe_of(found).reinforcement.cluster
    needs = {
        "simulator": (cluster.cpus_per_simulator, 0.0),
        "inference": (cluster.cpus_per_engine, cluster.gpus_per_engine),
        "learner": (cluster.cpus_per_learner, cluster.gpus_per_learner),
    }
    for group in cluster_spec(found)["workerGroupSpecs"]:
        role, limits = group["groupName"], group["template"]["spec"]["containers"][0]["resources"]["limits"]
        slots = int(group["resources"][role])
        cpus, gpus = needs[role]
        assert slots * cpus <= float(limits["cpu"])
        assert slots * gpus <= float(limits.get("nvidia.com/gpu", 0))


@pytest.mark.parametrize(
    ("gpus", "slots", "share"),
    [(1, 3, 0.33), (2, 3, 0.5), (3, 7, 0.33), (2, 4, 0.5), (4, 4, 1.0), (1, 100, 0.01), (8, 30, 0.25)],
)
def test_every_engine_of_a_pod_has_its_share_on_one_gpu(render: Render, gpus: int, slots: int, share: float) -> None:
    """Ray takes a share from one GPU, and never from two."""
    found = job(render, "small", presets={"small": {"inference": {"gpus": gpus, "slots": slots, "cpu": "100"}}})
    cluster = recipe_of(found).reinforcement.cluster
    assert cluster.gpus_per_engine == share
    assert gpus * int(1 / share + 1e-9) >= slots


@pytest.mark.parametrize("name", ["8", "on", "1e3"])
def test_a_preset_may_have_a_name_that_yaml_reads_as_something_else(
    render: Render, kuberay: KubeRaySchemas, name: str
) -> None:
    small = CHART_VALUES["presets"]["small"]
    values = {"preset": name, "presets": {name: small}, "cluster": {"enabled": True}, "run": EVERYTHING["run"]}
    data = template(render, **values)
    assert data["preset"] == name
    launched = parsed(data[f"rayjob-{name}.yaml"].replace("RUN_ID", "demo-1"))
    for found in (launched, *(one for one in render(values) if one["apiVersion"] == "ray.io/v1")):
        assert found["metadata"]["labels"]["suphx/preset"] == name
        assert kuberay.errors(found) == []


def test_large_numbers_stay_integers(render: Render, kuberay: KubeRaySchemas) -> None:
    large = 1_209_600  # which YAML may write as 1.2096e+06
    size = {"replicas": large, "minReplicas": large, "maxReplicas": large, "slots": large}
    found = job(
        render,
        "small",
        run=dict.fromkeys(("backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"), large),
        autoscaling={"idleTimeoutSeconds": large},
        presets={"small": {"simulator": size}},
        placement={"head": {"tolerations": [{"key": "a", "operator": "Exists", "tolerationSeconds": large}]}},
    )
    assert "e+" not in yaml.safe_dump(found)
    assert kuberay.errors(found) == []
    spec = found["spec"]
    assert (spec["backoffLimit"], spec["rayClusterSpec"]["autoscalerOptions"]["idleTimeoutSeconds"]) == (large, large)
    group = cluster_spec(found)["workerGroupSpecs"][0]
    assert (group["minReplicas"], group["maxReplicas"], group["resources"]["simulator"]) == (large, large, str(large))


def test_storage_records_and_further_arguments_reach_the_command(render: Render) -> None:
    values: dict[str, Any] = {
        "storage": {"address": "s3://bucket/runs"},
        "volumes": {"records": "games"},
        "run": {"arguments": ["--set", "seed=7"]},
    }
    found = job(render, "small", **values)
    args = build_parser().parse_args(shlex.split(found["spec"]["entrypoint"])[1:])
    recipe = load_recipe(RECIPE, args.overrides)
    assert (recipe.storage.address, recipe.seed) == ("s3://bucket/runs", 7)
    assert (str(args.records), str(args.runs)) == ("/records", "/runs")


def test_a_run_of_the_chart_can_be_created_again_from_its_recipe(render: Render) -> None:
    values = {"run": {"name": "first", "recipe": "seed = 1"}, "kueue": {"queueName": "suphx"}}
    run = find(render(values), "RayJob", "first")
    recipe = find(render(values), "ConfigMap", "first-recipe")
    kept = job_of(recipe)
    assert kept["spec"] == run["spec"]
    assert recipe["metadata"]["labels"]["suphx/preset"] == "small"
    owner = {"meta.helm.sh/release-name": "suphx", "meta.helm.sh/release-namespace": "mahjong"}
    assert kept["metadata"]["annotations"] == {**run["metadata"]["annotations"], **owner}


def test_labels_and_annotations_of_the_user_name_the_run(render: Render) -> None:
    objects = render({**EVERYTHING, "kueue": {"queueName": ""}})
    data = find(objects, "ConfigMap", "suphx-run-template")["data"]
    launched = parsed(data["rayjob-small.yaml"].replace("RUN_ID", "demo-1"))
    for found, name in (
        (launched, "demo-1"),
        (find(objects, "RayJob", "first"), "first"),
        (job_of(find(objects, "ConfigMap", "first-recipe")), "first"),
        (find(objects, "RayCluster", "suphx"), "suphx"),
    ):
        assert found["metadata"]["labels"]["example.org/app"] == name
        assert found["metadata"]["annotations"]["example.org/note"] == f"the run {name}"


@pytest.mark.parametrize("label", ["suphx/run", "app.kubernetes.io/name", "ray.io/cluster"])
def test_labels_of_the_chart_and_of_the_operator_cannot_be_changed(chart: Chart, label: str) -> None:
    for values in ({"rayJob": {"labels": {label: "mine"}}}, {"podLabels": {"head": {label: "mine"}}}):
        with pytest.raises(HelmValuesError):
            chart.validate_schema(values)


@pytest.mark.parametrize(
    ("values", "seconds"),
    [
        ({}, (300, 3600)),
        ({"run": {"ttlSecondsAfterFinished": 60, "ttlSecondsAfterFailure": 7200}}, (60, 7200)),
        ({"run": {"ttlSecondsAfterFailure": 300}}, 300),
        ({"kueue": {"queueName": "suphx"}}, 300),
    ],
    ids=["default", "set", "one time for both", "Kueue"],
)
def test_a_failed_cluster_stays_to_be_looked_at(
    render: Render, kuberay: KubeRaySchemas, values: dict[str, Any], seconds: int | tuple[int, int]
) -> None:
    found = job(render, "small", **values)
    assert (kuberay.errors(found), broken_rules(found)) == ([], [])
    spec = found["spec"]
    if isinstance(seconds, int):
        assert (spec["shutdownAfterJobFinishes"], spec["ttlSecondsAfterFinished"]) == (True, seconds)
        assert "deletionStrategy" not in spec
        return
    assert "ttlSecondsAfterFinished" not in spec
    rules = {tuple(rule["condition"].values()): rule["policy"] for rule in spec["deletionStrategy"]["deletionRules"]}
    success, failure = seconds
    assert rules == {("SUCCEEDED", success): "DeleteCluster", ("Failed", failure): "DeleteCluster"}


def test_helm_tests_say_commands_that_exist(render: Render) -> None:
    commands = [pod["spec"]["containers"][0]["args"] for where, pod in pods(render(EVERYTHING)) if "test-" in where]
    assert sorted(command[:2] for command in commands) == [["python", "-c"], ["suphx", "jobs"], ["suphx", "warmup"]]
    for command in commands:
        if command[0] == "suphx":
            assert build_parser().parse_args(command[1:]).json
