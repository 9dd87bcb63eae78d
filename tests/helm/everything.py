"""Values that switch on every part of the chart, and ways to look at what is rendered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import yaml

Render = Callable[..., list[dict[str, Any]]]
"""Called with values: the objects that the chart renders."""
PRESETS = ("laptop-kind", "paper", "small")
ROLES = ("head", "simulator", "inference", "learner", "nightly", "mlflow")
"""Keys of ``placement``, ``podLabels``, ``podAnnotations``, ``extraEnv`` and ``extraEnvFrom``."""
EVERYTHING: dict[str, Any] = {
    "image": {"pullSecrets": ["registry"]},
    "run": {"name": "first", "recipe": 'name = "first"\nseed = 1\n'},
    "cluster": {"enabled": True},
    "nightly": {"enabled": True, "recipe": 'name = "nightly"\n', "trackingSecretName": "mlflow-tournament"},
    "storage": {"address": "s3://bucket/runs", "endpointUrl": "https://s3.example.org", "secretName": "bucket"},
    "volumes": {"records": "records", "runs": "runs"},
    "tracking": {"secretName": "mlflow-runs"},
    "mlflow": {
        "enabled": True,
        "databaseUri": "postgresql://postgres/mlflow",
        "databaseSecretName": "database",
        "artifactsDestination": "s3://bucket/artifacts",
        "allowedHosts": ["localhost:8443"],
        "authSecretName": "mlflow-admin",
        "tlsSecretName": "mlflow-tls",
        "route": {
            "enabled": True,
            "hostnames": ["mlflow.example.org"],
            "parentRefs": [{"name": "public", "namespace": "gateway", "sectionName": "https"}],
        },
    },
    "serviceAccount": {"annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/suphx"}},
    "launcher": {"subjects": [{"kind": "Group", "name": "ml", "apiGroup": "rbac.authorization.k8s.io"}]},
    "podMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "alerts": {"enabled": "always", "labels": {"release": "prometheus"}},
    "kueue": {"queueName": "suphx"},
    "placement": {
        "simulator": {
            "nodeSelector": {"suphx/pool": "spot"},
            "tolerations": [{"key": "suphx/spot", "operator": "Exists", "effect": "NoSchedule"}],
            "priorityClassName": "suphx-simulator",
        },
        "head": {"tolerations": [{"key": "suphx/system", "operator": "Exists"}]},
        "nightly": {"nodeSelector": {"suphx/pool": "system"}},
        "mlflow": {"nodeSelector": {"suphx/pool": "system"}},
    },
    "rayJob": {"labels": {"example.org/app": "RUN_ID"}, "annotations": {"example.org/note": "the run RUN_ID"}},
    "podLabels": {role: {"example.org/team": f"team-of-{role}"} for role in ROLES},
    "podAnnotations": {role: {"example.org/role": role} for role in ROLES},
    "extraEnv": {role: [{"name": "HTTPS_PROXY", "value": f"http://proxy-of-{role}:3128"}] for role in ROLES},
    "extraEnvFrom": {role: [{"configMapRef": {"name": f"settings-of-{role}"}}] for role in ROLES},
    "networkPolicy": {"ingressNamespace": "gateway"},
}


def parsed(text: str) -> dict[str, Any]:
    """Return the one object of a YAML text, read by libyaml, which takes a tenth of the time."""
    found: dict[str, Any] = yaml.load(text, yaml.CSafeLoader)
    return found


def find(objects: list[dict[str, Any]], kind: str, name: str) -> dict[str, Any]:
    """Return the one object of that kind and name."""
    found = [one for one in objects if (one["kind"], one["metadata"]["name"]) == (kind, name)]
    assert len(found) == 1, f"{len(found)} {kind} {name}"
    return found[0]


def pods(objects: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield where it was found, and the template, of every pod that any object makes."""
    for one in objects:
        name = f"{one['kind']} {one['metadata']['name']}"
        if one["kind"] == "Pod":
            yield name, one
        elif one["kind"] in ("Deployment", "Job"):
            yield name, one["spec"]["template"]
        elif one["kind"] == "CronJob":
            yield name, one["spec"]["jobTemplate"]["spec"]["template"]
        elif one["kind"] in ("RayJob", "RayCluster"):
            yield from _ray_pods(name, one)


def _ray_pods(name: str, one: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    if one["kind"] == "RayJob":
        yield f"{name} submitter", one["spec"]["submitterPodTemplate"]
    for role, group in groups(one):
        yield f"{name} {role}", group["template"]


def cluster_spec(found: dict[str, Any]) -> dict[str, Any]:
    """Return the cluster of a RayJob or a RayCluster."""
    spec: dict[str, Any] = found["spec"]
    return cast(dict[str, Any], spec["rayClusterSpec"]) if found["kind"] == "RayJob" else spec


def groups(found: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and group of the head and of all workers."""
    spec = cluster_spec(found)
    yield "head", spec["headGroupSpec"]
    for group in spec["workerGroupSpecs"]:
        yield group["groupName"], group
