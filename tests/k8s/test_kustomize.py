"""What the chart stands on: objects that Kubernetes takes, quotas in which a run of the preset has room."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from helm_python import Chart
from kubernetes.utils import parse_quantity
from packaging.specifiers import SpecifierSet

from tests.helm.everything import find
from tests.helm.kuberay_schema import kuberay_schemas
from tests.helm.operator_rules import broken_rules
from tests.repository import REPOSITORY

FOLDER = REPOSITORY / "k8s"
OVERLAYS = sorted(path.name for path in (FOLDER / "overlays").iterdir())
POOLS = {"system", "spot", "gpu"}
HOOKS = ("mlflow-users", "check-run", "check-nightly")
"""Jobs before and after an upgrade, while runs go on."""
PRESETS = yaml.safe_load((REPOSITORY / "helm" / "suphx" / "values.yaml").read_text(encoding="utf-8"))["presets"]


def built(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a kustomization that has no patches; remote parts are left out."""
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text(encoding="utf-8"))
    assert kustomization.keys() <= {"apiVersion", "kind", "resources", "namespace", "images"}
    for resource in kustomization["resources"]:
        if resource.startswith("https://"):
            continue
        path = folder / resource
        if path.is_dir():
            yield from built(path)
        else:
            yield from yaml.safe_load_all(path.read_text(encoding="utf-8"))


@cache
def run_of(overlay: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the chart's values of an overlay, and what they render to with a run."""
    values = yaml.safe_load((FOLDER / "overlays" / overlay / "values.yaml").read_text(encoding="utf-8"))
    everything = {
        **values,
        "run": {"name": "first", "recipe": "seed = 1"},
        "mlflow": {"enabled": True, "authSecretName": "mlflow-admin"},
        "tracking": {"secretName": "mlflow-runs"},
        "storage": {"address": "s3://bucket/runs"},
        "nightly": {"enabled": True, "recipe": "seed = 1", "trackingSecretName": "mlflow-tournament"},
    }
    with Chart.load(REPOSITORY / "helm" / "suphx") as chart:
        texts = chart.render(everything, name="suphx", namespace="suphx")
    manifests = [text for path, text in texts.items() if path.endswith(".yaml")]
    return values, [one for text in manifests for one in yaml.load_all(text, yaml.CSafeLoader) if one]


def pods_of_run(job: dict[str, Any]) -> Iterator[tuple[int, dict[str, Any], list[dict[str, Any]]]]:
    """Yield how many at most, the spec, and the containers of each kind of pod of a RayJob."""
    cluster = job["spec"]["rayClusterSpec"]
    submitter, head = job["spec"]["submitterPodTemplate"]["spec"], cluster["headGroupSpec"]["template"]["spec"]
    autoscaler = [cluster["autoscalerOptions"]] if cluster["enableInTreeAutoscaling"] else []
    yield 1, submitter, submitter["containers"]
    yield 1, head, head["containers"] + autoscaler
    for group in cluster["workerGroupSpecs"]:
        spec = group["template"]["spec"]
        size = PRESETS[job["metadata"]["labels"]["suphx/preset"]][group["groupName"]]
        yield size.get("maxReplicas", group["maxReplicas"]), spec, spec["containers"]


def needs(containers: list[dict[str, Any]], kind: str) -> dict[str, float]:
    """Add up the requests or limits of containers."""
    total: dict[str, float] = defaultdict(float)
    for container in containers:
        for resource, amount in container["resources"][kind].items():
            total[resource] += float(parse_quantity(amount))
    return total


@pytest.mark.parametrize("folder", ["operator", "cluster", "base", "queue", *(f"overlays/{name}" for name in OVERLAYS)])
def test_kubernetes_takes_all_objects(folder: str) -> None:
    objects = list(built(FOLDER / folder))
    assert objects
    for one in objects:
        if not one["apiVersion"].startswith("kueue."):
            kubernetes_validate.validate(one, "1.37", strict=True)
    names = [(one["kind"], one["metadata"]["name"]) for one in objects]
    assert len(set(names)) == len(names)


def test_the_namespace_takes_restricted_pods_only() -> None:
    labels = find(list(built(FOLDER / "base")), "Namespace", "suphx")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


def test_the_operator_is_pinned_to_the_version_that_the_chart_names() -> None:
    operator = yaml.safe_load((FOLDER / "operator" / "kustomization.yaml").read_text(encoding="utf-8"))
    about = yaml.safe_load((REPOSITORY / "helm" / "suphx" / "Chart.yaml").read_text(encoding="utf-8"))
    tag = operator["images"][0]["newTag"]
    assert SpecifierSet(about["annotations"]["suphx/kuberay"]).contains(tag.removeprefix("v"))
    remote = [resource for resource in operator["resources"] if resource.startswith("https://")]
    assert len(remote) == 3
    assert all(resource.endswith(f"?ref={tag}") for resource in remote)
    values = yaml.safe_load((REPOSITORY / "helm" / "suphx" / "values.yaml").read_text(encoding="utf-8"))
    assert operator["namespace"] == values["networkPolicy"]["operatorNamespace"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_a_run_at_its_largest_has_room_in_the_quota(overlay: str) -> None:
    hard = find(list(built(FOLDER / "overlays" / overlay)), "ResourceQuota", "suphx")["spec"]["hard"]
    values, objects = run_of(overlay)
    assert values["preset"] == overlay
    pods = list(pods_of_run(find(objects, "RayJob", "first")))
    beside = [
        find(objects, "Deployment", "suphx-mlflow")["spec"]["template"]["spec"],
        *(find(objects, "Job", f"suphx-{name}")["spec"]["template"]["spec"] for name in HOOKS),
        find(objects, "CronJob", "suphx-nightly")["spec"]["jobTemplate"]["spec"]["template"]["spec"],
    ]
    pods += [(1, spec, spec["containers"]) for spec in beside]
    for kind in ("requests", "limits"):
        total: dict[str, float] = defaultdict(float)
        for count, _, containers in pods:
            for resource, amount in needs(containers, kind).items():
                total[resource] += count * amount
        for resource, amount in total.items():
            if f"{kind}.{resource}" in hard:
                assert amount <= parse_quantity(hard[f"{kind}.{resource}"]), resource
        assert {"cpu", "memory", "ephemeral-storage"} <= total.keys()
    assert sum(count for count, _, _ in pods) <= int(hard["pods"])


def test_a_run_of_the_paper_has_room_in_the_queue() -> None:
    values, objects = run_of("paper")
    job = find(objects, "RayJob", "first")
    queues = [*built(FOLDER / "queue"), *built(FOLDER / "overlays" / "paper")]
    assert (
        job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"]
        == find(queues, "LocalQueue", "suphx")["metadata"]["name"]
    )
    asked: dict[str, dict[str, float]] = {pool: defaultdict(float) for pool in POOLS}
    for count, spec, containers in pods_of_run(job):
        pool = spec.get("nodeSelector", {"suphx/pool": "system"})["suphx/pool"]
        for resource, amount in needs(containers, "requests").items():
            asked[pool][resource] += count * amount
    group = find(queues, "ClusterQueue", "suphx")["spec"]["resourceGroups"][0]
    for flavor in group["flavors"]:
        pool = find(queues, "ResourceFlavor", flavor["name"])["spec"]["nodeLabels"]["suphx/pool"]
        quota = {resource["name"]: parse_quantity(resource["nominalQuota"]) for resource in flavor["resources"]}
        assert quota.keys() == set(group["coveredResources"])
        for resource, amount in asked.pop(pool).items():
            assert amount <= quota[resource], (pool, resource)
    assert asked == {}
    assert values["autoscaling"] == {"enabled": False}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_pods_ask_for_priorities_and_nodes_that_exist(overlay: str) -> None:
    classes = {one["metadata"]["name"]: one["value"] for one in built(FOLDER / "cluster")}
    _, objects = run_of(overlay)
    server = find(objects, "Deployment", "suphx-mlflow")["spec"]["template"]["spec"]
    night = find(objects, "CronJob", "suphx-nightly")["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    of_runs = []
    for _, spec, _ in pods_of_run(find(objects, "RayJob", "first")):
        if spec["containers"][0]["name"].startswith("ray-"):
            of_runs.append(classes[spec["priorityClassName"]])
            assert spec.get("nodeSelector", {}).get("suphx/pool", "spot") in POOLS
    assert classes[server["priorityClassName"]] > max(of_runs), "a run evicts the server of all runs"
    assert classes[night["priorityClassName"]] == max(of_runs), "a run evicts a tournament"


SCHEDULERS = sorted(path.stem for path in (FOLDER / "schedulers").glob("*.yaml"))
QUEUES = {
    "kai": ("kai.scheduler/queue", "suphx"),
    "kueue": ("kueue.x-k8s.io/queue-name", "suphx"),
    "volcano": ("volcano.sh/queue-name", "suphx"),
    "yunikorn": ("yunikorn.apache.org/queue", "root.suphx"),
}


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_runs_go_to_the_queue_of_their_scheduler(scheduler: str) -> None:
    values = yaml.safe_load((FOLDER / "schedulers" / f"{scheduler}.yaml").read_text(encoding="utf-8"))
    with Chart.load(REPOSITORY / "helm" / "suphx") as chart:
        chart.validate_schema(values)
        texts = chart.render(
            {**values, "run": {"name": "first", "recipe": "seed = 1"}}, name="suphx", namespace="suphx"
        )
    job = yaml.safe_load(texts["suphx/templates/run/rayjob.yaml"])
    assert (kuberay_schemas().errors(job), broken_rules(job)) == ([], [])
    label, queue = QUEUES[scheduler]
    assert job["metadata"]["labels"][label] == queue
    assert job["metadata"]["labels"].get("yunikorn.apache.org/app-id", "first") == "first"
    for _, spec, _ in pods_of_run(job):
        assert spec.get("schedulerName") == ("kai-scheduler" if scheduler == "kai" else None)
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": spec}
        kubernetes_validate.validate(pod, "1.37", strict=True)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_a_team_that_leaves_takes_nothing_from_other_teams(overlay: str) -> None:
    for one in built(FOLDER / "overlays" / overlay):
        namespace = one["metadata"]["name" if one["kind"] == "Namespace" else "namespace"]
        assert namespace == "suphx", f"{one['kind']} {one['metadata']['name']} belongs to the whole cluster"
