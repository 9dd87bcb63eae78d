"""Whatever the values, all objects are such as Kubernetes and KubeRay take."""

from __future__ import annotations

import json
import re
from typing import Any

import kubernetes_validate
import pytest
import yaml
from helm_python import Chart
from kubernetes.utils import parse_quantity

from tests.helm.everything import EVERYTHING, PRESETS, Render, parsed, pods
from tests.helm.kuberay_schema import KubeRaySchemas
from tests.helm.operator_rules import broken_rules
from tests.suphx_platform.cluster.fake_api_server import RAYJOB_FIELDS

OWN_API_GROUPS = ("ray.io/v1", "monitoring.coreos.com/v1", "gateway.networking.k8s.io/v1")
OLDEST, NEWEST = "1.29", "1.37"
CHOICES = [{}, EVERYTHING, {**EVERYTHING, "kueue": {"queueName": ""}, "autoscaling": {"enabled": False}}]


def all_objects(render: Render, preset: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    """What Helm installs, and the run that the launcher makes of the template."""
    objects = render({**values, "preset": preset})
    templates = [one for one in objects if one["metadata"]["labels"].get("suphx/run-template")]
    runs = [parsed(one["data"][f"rayjob-{preset}.yaml"].replace("RUN_ID", "a-run")) for one in templates]
    assert len(runs) == 1
    return objects + runs


@pytest.fixture(params=range(len(CHOICES)), ids=["defaults", "everything", "without autoscaler"])
def values(request: pytest.FixtureRequest) -> dict[str, Any]:
    chosen: dict[str, Any] = CHOICES[request.param]
    return chosen


def check(objects: list[dict[str, Any]], version: str) -> None:
    """Hold all objects and their pods against the schemas of one version of Kubernetes; unknown fields are errors."""
    for one in objects:
        if one["apiVersion"] not in OWN_API_GROUPS:
            kubernetes_validate.validate(one, version, strict=True)
    different = {json.dumps(template, sort_keys=True): template for _, template in pods(objects)}
    for template in different.values():
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod", **template["metadata"]}}
        kubernetes_validate.validate({**pod, "spec": template["spec"]}, version, strict=True)


@pytest.mark.parametrize("preset", PRESETS)
def test_the_newest_kubernetes_takes_all_objects(render: Render, preset: str, values: dict[str, Any]) -> None:
    check(all_objects(render, preset, values), NEWEST)


def test_the_oldest_kubernetes_takes_all_objects(chart: Chart, render: Render) -> None:
    assert chart.metadata["kubeVersion"] == f">={OLDEST}.0-0"
    check(all_objects(render, "small", EVERYTHING), OLDEST)


@pytest.mark.parametrize("preset", PRESETS)
def test_kuberay_takes_runs_and_clusters(
    render: Render, kuberay: KubeRaySchemas, preset: str, values: dict[str, Any]
) -> None:
    checked = [one for one in all_objects(render, preset, values) if one["apiVersion"] == "ray.io/v1"]
    assert checked
    for one in checked:
        assert kuberay.errors(one) == []
        assert broken_rules(one) == []


@pytest.mark.parametrize("is_autoscaled", [True, False])
def test_kueue_takes_what_rays_autoscaler_resizes_only_as_elastic(render: Render, is_autoscaled: bool) -> None:
    objects = render({**EVERYTHING, "autoscaling": {"enabled": is_autoscaled}})
    queued = [one for one in objects if "kueue.x-k8s.io/queue-name" in one["metadata"]["labels"]]
    assert {one["kind"] for one in queued} == {"RayJob", "RayCluster"}
    for one in queued:
        is_elastic = (one["metadata"].get("annotations") or {}).get("kueue.x-k8s.io/elastic-job") == "true"
        assert is_elastic == is_autoscaled, one["kind"]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_drained_node_takes_no_head_or_learner_of_the_long_lived_cluster(render: Render, preset: str) -> None:
    objects = render({**EVERYTHING, "preset": preset})
    (cluster,) = [one for one in objects if one["kind"] == "RayCluster"]
    groups = {"head": 1} | {one["groupName"]: one["replicas"] for one in cluster["spec"]["workerGroupSpecs"]}
    budgets = {
        one["spec"]["selector"]["matchLabels"]["suphx/role"]: one["spec"]["minAvailable"]
        for one in objects
        if one["kind"] == "PodDisruptionBudget"
    }
    assert budgets == {role: groups[role] for role in ("head", "learner")}


def test_names_are_unique_and_such_as_kubernetes_takes(render: Render, values: dict[str, Any]) -> None:
    objects = render(values)
    names = [(one["kind"], one["metadata"]["name"]) for one in objects]
    assert len(set(names)) == len(names)
    for kind, name in names:
        assert re.fullmatch("[a-z]([-a-z0-9]{0,61}[a-z0-9])?", name), (kind, name)
    for where, template in pods(objects):
        volumes = {volume["name"] for volume in template["spec"].get("volumes", [])}
        for container in template["spec"]["containers"] + template["spec"].get("initContainers", []):
            mounted = [mount["name"] for mount in container["volumeMounts"]]
            assert set(mounted) <= volumes, f"{where} mounts what it has not"
            assert len({mount["mountPath"] for mount in container["volumeMounts"]}) == len(mounted)


@pytest.mark.parametrize("release", ["suphx", "a", "x" * 53, "suphx-" + "x" * 47])
def test_any_name_of_a_release_will_do(chart: Chart, kuberay: KubeRaySchemas, release: str) -> None:
    texts = chart.render(EVERYTHING, name=release, namespace="mahjong")
    for path, text in texts.items():
        if path.endswith(".yaml"):
            for one in filter(None, yaml.load_all(text, yaml.CSafeLoader)):
                assert len(one["metadata"]["name"]) <= 52
                if one["apiVersion"] == "ray.io/v1":
                    assert kuberay.errors(one) + broken_rules(one) == []


@pytest.mark.parametrize("preset", PRESETS)
def test_pods_have_the_memory_that_they_need(render: Render, preset: str) -> None:
    for where, template in pods(render({**EVERYTHING, "preset": preset})):
        for container in template["spec"]["containers"]:
            limits = {kind: parse_quantity(amount) for kind, amount in container["resources"]["limits"].items()}
            requests = {kind: parse_quantity(amount) for kind, amount in container["resources"]["requests"].items()}
            assert {"cpu", "memory", "ephemeral-storage"} <= requests.keys() & limits.keys(), where
            assert requests["memory"] == limits["memory"]
            if container["name"].startswith("ray-"):
                assert requests == limits
                shared = [v["emptyDir"] for v in template["spec"]["volumes"] if v["name"] == "shared-mem"]
                assert parse_quantity(shared[0]["sizeLimit"]) <= limits["memory"]
            if container["name"] == "ray-head":
                assert limits["memory"] >= 8 * 2**30


@pytest.mark.parametrize("preset", PRESETS)
def test_the_object_store_fits_its_shared_memory(render: Render, preset: str) -> None:
    for one in all_objects(render, preset, EVERYTHING):
        if one["apiVersion"] == "ray.io/v1":
            spec = one["spec"].get("rayClusterSpec", one["spec"])
            for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
                volumes = {volume["name"]: volume for volume in group["template"]["spec"]["volumes"]}
                shared = volumes["shared-mem"]["emptyDir"]
                assert shared["medium"] == "Memory"
                assert int(group["rayStartParams"]["object-store-memory"]) < parse_quantity(shared["sizeLimit"])


def test_the_fake_api_server_knows_the_fields_of_a_rayjob(kuberay: KubeRaySchemas) -> None:
    assert kuberay.fields("RayJob") == RAYJOB_FIELDS
