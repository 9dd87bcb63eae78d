"""Every pod passes the restricted level of Kubernetes' pod security standards, with a read-only root besides."""

from __future__ import annotations

import pytest

from tests.helm.everything import EVERYTHING, PRESETS, Render, pods
from tests.helm.security.restricted_pod import _container_violations, violations


@pytest.mark.parametrize("preset", PRESETS)
def test_every_pod_is_restricted(render: Render, preset: str) -> None:
    checked = list(pods(render({**EVERYTHING, "preset": preset})))
    # RayJob, RayCluster, MLflow and its users, nightly tournament, tests, checks of recipes
    assert len(checked) == 5 + 4 + 2 + 1 + 3 + 2
    for where, template in checked:
        assert violations(template["spec"]) == [], where


def test_containers_that_the_operator_adds_are_restricted(render: Render) -> None:
    # wait-gcs-ready takes over the security context of containers[0]; the autoscaler has this one.
    for one in render(EVERYTHING):
        if one["apiVersion"] == "ray.io/v1":
            spec = one["spec"].get("rayClusterSpec", one["spec"])
            assert _container_violations(spec["autoscalerOptions"]["securityContext"]) == []


def test_a_token_of_the_api_server_is_mounted_only_where_it_is_needed(render: Render) -> None:
    with_token = {where for where, pod in pods(render(EVERYTHING)) if pod["spec"]["automountServiceAccountToken"]}
    assert with_token == {"RayJob first head", "RayCluster suphx head", "Pod suphx-test-launcher"}
    without_autoscaler = render({**EVERYTHING, "autoscaling": {"enabled": False}})
    with_token = {where for where, pod in pods(without_autoscaler) if pod["spec"]["automountServiceAccountToken"]}
    assert with_token == {"Pod suphx-test-launcher"}


def test_what_is_written_lies_in_folders_that_can_be_written(render: Render) -> None:
    for where, pod in pods(render(EVERYTHING)):
        for container in pod["spec"]["containers"]:
            mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
            environment = {variable["name"]: variable.get("value") for variable in container["env"]}
            assert not mounts["/tmp"].get("readOnly"), where
            assert environment["HOME"] == "/tmp"
            if folder := environment.get("SUPHX_CACHE"):
                assert not mounts[folder].get("readOnly")


def test_kernels_are_copied_before_anything_runs(render: Render) -> None:
    for where, pod in pods(render(EVERYTHING)):
        cached = [c for c in pod["spec"]["containers"] if any(v["name"] == "SUPHX_CACHE" for v in c["env"])]
        first = pod["spec"].get("initContainers", [])
        assert [c["name"] for c in first] == (["kernels"] if cached else []), where
        if cached:
            assert first[0]["image"] == cached[0]["image"]
