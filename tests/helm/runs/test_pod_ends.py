"""How pods end, and that each one that ends is replaced by one: by the operator, not by Ray's autoscaler as well."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from ray.autoscaler._private.kuberay.node_provider import IKubernetesHttpApiClient
from ray.autoscaler.v2.instance_manager.cloud_providers.kuberay.cloud_provider import KubeRayProvider

from tests.helm.everything import EVERYTHING, PRESETS, Render, cluster_spec, find, groups, parsed, pods

RAY_PODS = 5 + 4
"""Of a RayJob with its submitter, and of the RayCluster."""


class Api(IKubernetesHttpApiClient):
    """What the autoscaler reads and changes: a RayCluster, and its pods, of which the first simulator terminates."""

    def __init__(self, cluster: dict[str, Any]) -> None:
        self.cluster = copy.deepcopy({**cluster, "spec": cluster_spec(cluster)})
        self.pods = [_pod("head", "head", "headgroup")]
        for role, group in groups(cluster):
            if role != "head":
                self.pods += [_pod(f"{role}-{number}", "worker", role) for number in range(group["replicas"])]
        ending = next(pod for pod in self.pods if pod["metadata"]["name"] == "simulator-0")
        ending["metadata"]["deletionTimestamp"] = "2026-11-29T12:00:00Z"

    def get(self, path: str) -> dict[str, Any]:
        if path.startswith("rayclusters"):
            return copy.deepcopy(self.cluster)
        return {"metadata": {"resourceVersion": "1"}, "items": copy.deepcopy(self.pods)}

    def patch(self, path: str, payload: Any, content_type: str = "") -> dict[str, Any]:
        for one in payload:
            *way, last = one["path"].strip("/").split("/")
            place: Any = self.cluster
            for part in way:
                place = place[int(part)] if isinstance(place, list) else place[part]
            place[last] = one["value"]
        return copy.deepcopy(self.cluster)

    def delete(self, path: str) -> dict[str, Any]:
        raise AssertionError(path)


def _pod(name: str, kind: str, group: str) -> dict[str, Any]:
    labels = {"ray.io/node-type": kind, "ray.io/group": group}
    status: dict[str, Any] = {"containerStatuses": [{"state": {"running": {}}}]}
    return {"metadata": {"name": name, "labels": labels}, "status": status}


def simulators(api: Api) -> int:
    groups = {group["groupName"]: group for group in api.cluster["spec"]["workerGroupSpecs"]}
    return int(groups["simulator"]["replicas"])


def asked_for_a_replacement(cluster: dict[str, Any]) -> Api:
    """Return what Ray's own autoscaler has made of a cluster in which the actors of an ending pod wait for another."""
    api = Api(cluster)
    provider = KubeRayProvider("c", {"namespace": "suphx"}, gcs_client=None, k8s_api_client=api)
    provider.get_non_terminated()
    provider.launch({"simulator": 1}, "request")
    return api


@pytest.mark.parametrize("preset", PRESETS)
def test_the_autoscaler_adds_no_second_pod_for_one_that_ends(render: Render, preset: str) -> None:
    """The operator still counts a pod that terminates, and replaces it when it is gone; the autoscaler does not."""
    template = find(render({}), "ConfigMap", "suphx-run-template")["data"][f"rayjob-{preset}.yaml"]
    job = parsed(template.replace("RUN_ID", "demo-1"))
    before = dict(groups(job))["simulator"]["replicas"]
    assert simulators(asked_for_a_replacement(job)) == before


def test_no_container_ignores_sigterm_as_process_1(render: Render) -> None:
    sharing = 0
    for where, pod in pods(render(EVERYTHING)):
        if pod["spec"].get("shareProcessNamespace"):
            sharing += 1
            continue
        for container in pod["spec"]["containers"]:
            assert container["command"][0] == "tini", f"{where} {container['name']}"
    assert sharing == RAY_PODS


def test_a_head_does_not_wait_for_its_node_to_drain(render: Render) -> None:
    for one in render(EVERYTHING):
        if one["apiVersion"] == "ray.io/v1":
            for role, group in groups(one):
                env = {each["name"]: each.get("value") for each in group["template"]["spec"]["containers"][0]["env"]}
                assert env.get("RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S") == ("0" if role == "head" else None)
