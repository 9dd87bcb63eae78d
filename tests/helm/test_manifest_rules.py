"""The checks of this folder find what they are for: a run is damaged, and each check tells."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.helm.everything import EVERYTHING, Render, cluster_spec, find
from tests.helm.kuberay_schema import KubeRaySchemas
from tests.helm.operator_rules import broken_rules
from tests.helm.security.restricted_pod import violations
from tests.suphx_platform.cluster.fake_api_server import RAYJOB_FIELDS


@pytest.fixture
def run(render: Render) -> dict[str, Any]:
    return copy.deepcopy(find(render({**EVERYTHING, "kueue": {"queueName": ""}}), "RayJob", "first"))


def worker(run: dict[str, Any]) -> dict[str, Any]:
    group: dict[str, Any] = cluster_spec(run)["workerGroupSpecs"][0]
    return group


def deletion_rules(run: dict[str, Any]) -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = run["spec"]["deletionStrategy"]["deletionRules"]
    return rules


@pytest.mark.parametrize(
    ("damage", "rule"),
    [
        (lambda run: run["metadata"].update(name="r" * 48), "its name must begin with a letter and have at most 47"),
        (lambda run: worker(run).update(groupName="learner"), "two worker groups have the same name"),
        (lambda run: cluster_spec(run).update(rayVersion="2.40.0"), "authOptions.mode token needs Ray 2.52.0"),
        (lambda run: worker(run)["rayStartParams"].update(resources="{}"), "resources are in rayStartParams"),
        (lambda run: worker(run).update(maxReplicas=1), "minReplicas, replicas, maxReplicas are [1, 2, 1]"),
        (lambda run: run["spec"].update(ttlSecondsAfterFinished=60), "needs shutdownAfterJobFinishes"),
        (lambda run: run["spec"].update(shutdownAfterJobFinishes=True), "exclude each other"),
        (lambda run: deletion_rules(run)[0].update(policy="DeleteWorkers"), "cannot be used with autoscaling"),
        (lambda run: deletion_rules(run).append(deletion_rules(run)[0]), "the same condition and policy"),
        (lambda run: run["spec"].update(submissionMode="SidecarMode"), "takes neither submitterPodTemplate"),
    ],
)
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
    errors = "\n".join(kuberay.errors(run))
    assert "'entrypont' was unexpected" in errors
    assert "workerGroupSpecs.0.replicas: 'two' is not of type 'integer'" in errors


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
