"""The client against a server in this process: what happens between a read and a write, and what a 404 means."""

from __future__ import annotations

from typing import Any

import pytest

from suphx_platform.cluster.cluster_api import ClusterApi
from suphx_platform.cluster.cluster_error import ClusterError
from tests.suphx_platform.cluster.runs.cluster_store import Cluster, Fault


@pytest.fixture
def api(cluster: Cluster) -> ClusterApi:
    return ClusterApi()


def put_group(cluster: Cluster, names: list[str]) -> None:
    """Store a RayCluster with these worker groups."""
    old = cluster.objects.get(("rayclusters", "run-1"), {"metadata": {"name": "run-1"}})
    metadata = {key: value for key, value in old["metadata"].items() if key != "resourceVersion"}
    cluster.put("rayclusters", {"metadata": metadata, "spec": {"workerGroupSpecs": [{"groupName": n} for n in names]}})


def with_learner(one: dict[str, Any]) -> dict[str, Any]:
    """Return the patch that appends a group: a merge patch replaces the whole list."""
    return {"spec": {"workerGroupSpecs": [*one["spec"]["workerGroupSpecs"], {"groupName": "learner"}]}}


def groups(cluster: Cluster) -> list[str]:
    return [one["groupName"] for one in cluster.found("rayclusters", "run-1")["spec"]["workerGroupSpecs"]]


def test_a_change_keeps_what_another_client_added_to_the_same_list_meanwhile(cluster: Cluster, api: ClusterApi) -> None:
    put_group(cluster, ["simulator"])
    cluster.before_patch.append(lambda _: put_group(cluster, ["simulator", "evaluator"]))
    changed = api.change("rayclusters", "run-1", with_learner)
    assert groups(cluster) == ["simulator", "evaluator", "learner"]
    assert changed == cluster.found("rayclusters", "run-1")
    assert [method for method, _ in cluster.requests] == ["GET", "PATCH", "GET", "PATCH"]


def test_a_change_gives_up_when_other_clients_never_stop_writing(cluster: Cluster, api: ClusterApi) -> None:
    put_group(cluster, ["simulator"])
    cluster.before_patch += [lambda _, n=n: put_group(cluster, [f"{n}"]) for n in range(20)]  # type: ignore[misc]
    with pytest.raises(ClusterError, match="RayCluster run-1 keeps being changed by another client"):
        api.change("rayclusters", "run-1", with_learner)
    assert "learner" not in groups(cluster)


def test_a_change_of_nothing_writes_nothing(cluster: Cluster, api: ClusterApi) -> None:
    put_group(cluster, ["simulator"])
    assert api.change("rayclusters", "run-1", lambda _: {}) == cluster.found("rayclusters", "run-1")
    assert [method for method, _ in cluster.requests] == ["GET"]


def test_an_object_that_does_not_exist_is_none_and_cannot_be_changed(cluster: Cluster, api: ClusterApi) -> None:
    assert api.get("rayjobs", "run-1") is None
    api.delete("rayjobs", "run-1")
    with pytest.raises(ClusterError, match="RayJob run-1 does not exist in namespace suphx"):
        api.change("rayjobs", "run-1", lambda _: {"spec": {"suspend": True}})


def test_a_404_that_does_not_name_the_object_is_an_error(cluster: Cluster, api: ClusterApi) -> None:
    # A cluster that does not know ray.io, or a proxy in between, answers so for objects that exist.
    cluster.put("rayjobs", {"metadata": {"name": "run-1"}, "spec": {}})
    cluster.faults += [Fault("GET", "rayjobs", 404), Fault("DELETE", "rayjobs", 404), Fault("GET", "configmaps", 404)]
    with pytest.raises(ClusterError, match=r"RayJob run-1: .*install the KubeRay operator"):
        api.get("rayjobs", "run-1")
    with pytest.raises(ClusterError, match=r"RayJob run-1: .*install the KubeRay operator"):
        api.delete("rayjobs", "run-1")
    with pytest.raises(ClusterError, match=r"ConfigMap run-1: .*Check that it is in namespace suphx"):
        api.get("configmaps", "run-1")
    assert api.get("rayjobs", "run-1") is not None
