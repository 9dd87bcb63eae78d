"""The checks of this folder find what they are for: a run is damaged in every way that KubeRay refuses."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.helm.everything import EVERYTHING, Render, find
from tests.helm.kuberay_schema import KubeRaySchemas
from tests.helm.operator_rules import broken_rules
from tests.helm.runs.ray_groups import cluster_spec
from tests.helm.security.restricted_pod import violations
from tests.suphx_platform.cluster.fake_api_server import RAYJOB_FIELDS


@pytest.fixture
def run(render: Render) -> dict[str, Any]:
    return copy.deepcopy(find(render({**EVERYTHING, "kueue": {"queueName": ""}}), "RayJob", "first"))


def head(run: dict[str, Any]) -> dict[str, Any]:
    group: dict[str, Any] = cluster_spec(run)["headGroupSpec"]
    return group


def worker(run: dict[str, Any]) -> dict[str, Any]:
    group: dict[str, Any] = cluster_spec(run)["workerGroupSpecs"][0]
    return group


def put_another_container_first(run: dict[str, Any]) -> None:
    head(run)["template"]["spec"]["containers"].insert(0, {"name": "log-reader"})


DAMAGES: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda run: run["metadata"].update(name="r" * 48), "its name must begin with a letter and have at most 47"),
    (lambda run: run["metadata"].update(name="1st"), "its name must begin with a letter and"),
    (lambda run: worker(run).update(groupName="learner"), "two worker groups have the same name"),
    (lambda run: cluster_spec(run).pop("rayVersion"), "authOptions.mode token needs rayVersion"),
    (
        lambda run: cluster_spec(run).update(rayVersion="2.40.0"),
        "authOptions.mode token needs Ray 2.52.0",
    ),
    (
        lambda run: head(run)["template"]["spec"].update(restartPolicy="Always"),
        "headGroupSpec: restartPolicy must be",
    ),
    (
        lambda run: worker(run)["rayStartParams"].update(resources="{}"),
        "resources are in rayStartParams (resources)",
    ),
    (lambda run: worker(run)["rayStartParams"].update(labels="a=b"), "group simulator: labels are in rayStartParams"),
    (lambda run: head(run)["rayStartParams"].update({"num-cpus": 0}), "the values of rayStartParams must be strings"),
    (lambda run: worker(run).update(maxReplicas=1), "minReplicas, replicas, maxReplicas are [1, 2, 1]"),
    (put_another_container_first, "its first container must be Ray's"),
    (lambda run: run["spec"].update(shutdownAfterJobFinishes=False), "needs shutdownAfterJobFinishes"),
    (lambda run: run["spec"].update(submissionMode="SidecarMode"), "SidecarMode does not allow submitterPodTemplate"),
    (
        lambda run: run["spec"].update(clusterSelector={"a": "b"}),
        "cannot be combined with clusterSelector",
    ),
    (lambda run: run["spec"].update(activeDeadlineSeconds=-1), "activeDeadlineSeconds is -1: use 1 or more"),
]


@pytest.mark.parametrize(("damage", "rule"), DAMAGES, ids=[rule for _, rule in DAMAGES])
def test_a_run_that_the_operator_would_refuse_is_found(
    run: dict[str, Any], damage: Callable[[dict[str, Any]], object], rule: str
) -> None:
    assert broken_rules(run) == []
    damage(run)
    assert any(rule in broken for broken in broken_rules(run)), broken_rules(run)


def test_the_schemas_of_kuberay_find_unknown_fields_and_wrong_types(
    run: dict[str, Any], kuberay: KubeRaySchemas
) -> None:
    run["spec"]["entrypont"] = "suphx run"
    worker(run)["replicas"] = "two"
    head(run)["template"]["spec"]["containers"][0]["image"] = None
    errors = "\n".join(kuberay.errors(run))
    assert "'entrypont' was unexpected" in errors
    assert "workerGroupSpecs.0.replicas: 'two' is not of type 'integer'" in errors
    assert "containers.0.image: None is not of type 'string'" in errors


def test_the_fake_api_server_knows_the_fields_of_a_rayjob(kuberay: KubeRaySchemas) -> None:
    assert kuberay.fields("RayJob") == RAYJOB_FIELDS


def test_a_pod_that_is_not_restricted_is_found() -> None:
    spec = {
        "hostNetwork": True,
        "volumes": [{"name": "disk", "hostPath": {"path": "/"}}],
        "containers": [{"name": "ray", "securityContext": {"allowPrivilegeEscalation": True}}],
    }
    found = "\n".join(violations(spec))
    for fault in (
        "hostNetwork",
        "hostPath",
        "may run as root",
        "no seccomp profile",
        "allowPrivilegeEscalation is True",
    ):
        assert fault in found
