"""Where pods go, and from which images."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helm.everything import EVERYTHING, ROLES, Render, pods

GPU = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
LASTING = ("head", "learner", "submitter", "nightly")
"""Roles whose pods the cluster autoscaler does not evict."""


def affinity(role: str) -> dict[str, Any]:
    """Nodes that a role prefers."""
    term = {"matchExpressions": [{"key": "for", "operator": "In", "values": [role]}]}
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": term}]}}


def spread(role: str) -> list[dict[str, Any]]:
    """Zones over which the pods of a role are spread."""
    own = {"labelSelector": {"matchLabels": {"suphx/role": role}}, "topologyKey": "topology.kubernetes.io/zone"}
    return [{**own, "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}]


PLACEMENT: dict[str, Any] = {
    role: {
        "nodeSelector": {"for": role},
        "tolerations": [{"key": role}],
        "priorityClassName": role,
        "schedulerName": f"scheduler-of-{role}",
        "affinity": affinity(role),
        "topologySpreadConstraints": spread(role),
    }
    for role in ROLES
}


def role_of(pod: dict[str, Any]) -> str:
    """Return the key of ``placement`` that is a pod's."""
    labels = pod["metadata"]["labels"]
    if labels["app.kubernetes.io/component"] == "mlflow":
        return "mlflow"
    role: str = labels["suphx/role"]
    return "nightly" if role.startswith(("test-", "mlflow-", "recipe-")) else {"submitter": "head"}.get(role, role)


@pytest.mark.parametrize("preset", ["small", "laptop-kind"])
def test_every_pod_goes_where_its_role_belongs(render: Render, preset: str) -> None:
    seen = set()
    for where, pod in pods(render({**EVERYTHING, "preset": preset, "placement": PLACEMENT})):
        role, spec = role_of(pod), pod["spec"]
        has_gpu = any("nvidia.com/gpu" in one["resources"]["limits"] for one in spec["containers"])
        assert spec["nodeSelector"] == {"for": role}, where
        assert spec["priorityClassName"] == role, where
        assert spec["schedulerName"] == f"scheduler-of-{role}", where
        assert spec["affinity"] == affinity(role), where
        assert spec["topologySpreadConstraints"] == spread(role), where
        assert spec["tolerations"] == ([GPU] if has_gpu else []) + [{"key": role}], where
        seen.add(role)
    assert seen == set(ROLES)


def test_pods_have_the_labels_annotations_and_variables_of_their_role(render: Render) -> None:
    for where, pod in pods(render(EVERYTHING)):
        role = role_of(pod)
        environment = {one["name"]: one.get("value") for one in pod["spec"]["containers"][0]["env"]}
        assert environment["HTTPS_PROXY"] == f"http://proxy-of-{role}:3128", where
        sources = pod["spec"]["containers"][0]["envFrom"]
        assert sources == [{"configMapRef": {"name": f"settings-of-{role}"}}], where
        assert pod["metadata"]["labels"]["example.org/team"] == f"team-of-{role}", where
        annotations = pod["metadata"].get("annotations", {})
        stays = annotations.get("cluster-autoscaler.kubernetes.io/safe-to-evict")
        is_lasting = pod["metadata"]["labels"].get("suphx/role") in LASTING
        assert stays == ("false" if is_lasting else None), where
        assert annotations["example.org/role"] == role, where
        assert ("helm.sh/hook" in annotations) == where.startswith("Pod "), where


def test_an_image_is_named_by_tag_or_by_digest(render: Render) -> None:
    digest = "registry.example.org/suphx-cuda@sha256:" + "0" * 64
    image = {"cpu": "registry.example.org/suphx-cpu", "cuda": digest, "tag": "1.2"}
    found = {
        container["image"]
        for _, pod in pods(render({**EVERYTHING, "image": image}))
        for container in (*pod["spec"]["containers"], *pod["spec"].get("initContainers", []))
    }
    assert found == {"registry.example.org/suphx-cpu:1.2", digest}
