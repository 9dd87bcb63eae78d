"""Where pods go, and from which images."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helm.everything import EVERYTHING, Render, pods

GPU = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
ROLES = ("head", "simulator", "inference", "learner", "nightly", "mlflow")
PLACES: dict[str, Any] = {
    role: {"nodeSelector": {"for": role}, "tolerations": [{"key": role}], "priorityClassName": role} for role in ROLES
}


def role_of(pod: dict[str, Any]) -> str:
    """Return the key of ``placement`` that is a pod's."""
    labels = pod["metadata"]["labels"]
    if labels["app.kubernetes.io/component"] == "mlflow":
        return "mlflow"
    role: str = labels["suphx/role"]
    return "nightly" if role.startswith(("test-", "mlflow-")) else {"submitter": "head"}.get(role, role)


@pytest.mark.parametrize("preset", ["small", "laptop-kind"])
def test_every_pod_goes_where_its_role_belongs(render: Render, preset: str) -> None:
    seen = set()
    for where, pod in pods(render({**EVERYTHING, "preset": preset, "placement": PLACES})):
        role, spec = role_of(pod), pod["spec"]
        has_gpu = any("nvidia.com/gpu" in one["resources"]["limits"] for one in spec["containers"])
        assert spec["nodeSelector"] == {"for": role}, where
        assert spec["priorityClassName"] == role, where
        assert spec["tolerations"] == ([GPU] if has_gpu else []) + [{"key": role}], where
        seen.add(role)
    assert seen == set(ROLES)


def test_without_placement_pods_go_anywhere(render: Render) -> None:
    for where, pod in pods(render({**EVERYTHING, "preset": "laptop-kind", "placement": {}})):
        assert not {"nodeSelector", "tolerations", "priorityClassName"} & pod["spec"].keys(), where


def test_an_image_is_named_by_tag_or_by_digest(render: Render) -> None:
    digest = "registry.example.org/suphx-cuda@sha256:" + "0" * 64
    image = {"cpu": "registry.example.org/suphx-cpu", "cuda": digest, "tag": "1.2"}
    found = {
        container["image"]
        for _, pod in pods(render({**EVERYTHING, "image": image}))
        for container in (*pod["spec"]["containers"], *pod["spec"].get("initContainers", []))
    }
    assert found == {"registry.example.org/suphx-cpu:1.2", digest}
