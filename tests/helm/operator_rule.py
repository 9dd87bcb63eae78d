"""What KubeRay 1.7 refuses beyond its schemas, and what our own clusters must be."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast

NAME_LENGTHS = {"RayCluster": 53, "RayJob": 47}


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


def broken_rules(found: dict[str, Any]) -> list[str]:
    """Return a line for each rule of the operator that a RayJob or RayCluster breaks."""
    rules = [*_names(found), *_auth(found), *_autoscaling(found)]
    for name, group in groups(found):
        rules += [f"{name}: {rule}" for rule in (*_resources(group), *_limits(group), *_ray_container(group))]
    if found["kind"] == "RayJob":
        rules += _job(found["spec"])
    return rules


def _names(found: dict[str, Any]) -> Iterator[str]:
    name, longest = found["metadata"]["name"], NAME_LENGTHS[found["kind"]]
    if len(name) > longest:
        yield f"the name {name} has over {longest} characters"
    if not re.fullmatch("[a-z]([-a-z0-9]*[a-z0-9])?", name):
        yield f"the name {name} is no DNS label that begins with a letter"
    worker_names = [name for name, _ in groups(found)]
    if len(set(worker_names)) < len(worker_names):
        yield f"groups share a name: {worker_names}"


def _auth(found: dict[str, Any]) -> Iterator[str]:
    spec = cluster_spec(found)
    if spec.get("authOptions", {}).get("mode") == "token" and not spec.get("rayVersion"):
        yield "token authentication without rayVersion"
    elif tuple(int(part) for part in str(spec.get("rayVersion")).split(".")[:2]) < (2, 52):
        yield f"token authentication with Ray {spec['rayVersion']}, older than 2.52"


def _autoscaling(found: dict[str, Any]) -> Iterator[str]:
    spec = cluster_spec(found)
    if not spec.get("enableInTreeAutoscaling") or spec.get("autoscalerOptions", {}).get("version") != "v2":
        return
    for name, group in groups(found):
        if group["template"]["spec"].get("restartPolicy", "Never") != "Never":
            yield f"{name}: restartPolicy must be Never with autoscaler v2"


def _resources(group: dict[str, Any]) -> Iterator[str]:
    parameters = group.get("rayStartParams", {})
    twice = {"num-cpus", "num-gpus", "memory", "resources"} & parameters.keys()
    if twice and group.get("resources"):
        yield f"resources are in rayStartParams ({', '.join(sorted(twice))}) and in resources"
    if "labels" in parameters:
        yield "labels are in rayStartParams"
    if not all(isinstance(value, str) for value in parameters.values()):
        yield f"rayStartParams must be strings: {json.dumps(parameters)}"


def _limits(group: dict[str, Any]) -> Iterator[str]:
    if "groupName" not in group:
        return
    least, wanted, most = (group[key] for key in ("minReplicas", "replicas", "maxReplicas"))
    if not 0 <= least <= wanted <= most:
        yield f"minReplicas {least} <= replicas {wanted} <= maxReplicas {most} does not hold"


def _ray_container(group: dict[str, Any]) -> Iterator[str]:
    containers = group["template"]["spec"]["containers"]
    if not containers or not containers[0]["name"].startswith("ray-"):
        yield "containers[0] is not Ray's"


def _job(spec: dict[str, Any]) -> Iterator[str]:
    if not spec.get("shutdownAfterJobFinishes"):
        for key in ("suspend", "ttlSecondsAfterFinished"):
            if spec.get(key):
                yield f"{key} needs shutdownAfterJobFinishes"
    if spec.get("submissionMode") == "SidecarMode" and "submitterPodTemplate" in spec:
        yield "SidecarMode takes no submitterPodTemplate"
    if "clusterSelector" in spec and spec.get("backoffLimit"):
        yield "backoffLimit does not go with clusterSelector"
    if spec.get("backoffLimit", 0) < 0 or spec.get("activeDeadlineSeconds", 1) < 1:
        yield "backoffLimit or activeDeadlineSeconds is negative"
