"""Rules of KubeRay's operator that its schemas do not state, checked before anything is created."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from suphx_platform.cluster.cluster_error import ClusterError

MAX_JOB_NAME = 47
"""KubeRay adds to it to name clusters and services."""
_NAME_RULE = f"its name must begin with a letter and have at most {MAX_JOB_NAME} lower-case letters, digits and dashes"
_NAME = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")
OLDEST_WITH_TOKENS = (2, 52)
"""The first Ray version with token authentication; KubeRay rejects older ones."""
_VERSION = re.compile(r"v?(\d+)\.(\d+)(\.\d+)*")
_RESOURCE_PARAMETERS = ("num-cpus", "num-gpus", "memory", "resources")

Table = Mapping[str, Any]


def check_job(job: Table) -> None:
    """Raise ClusterError that lists every rule of the operator that this RayJob breaks."""
    found = list(_job_faults(job))
    if found:
        raise ClusterError(
            f"the KubeRay operator would reject RayJob {job['metadata'].get('name')}: {'; '.join(found)}. Correct the "
            "chart's values with helm upgrade, then launch again"
        )


def check_name(name: str) -> None:
    """Raise ClusterError if a RayJob cannot have this name."""
    if _has_wrong_name(name):
        raise ClusterError(f"a run cannot be called {name!r}: {_NAME_RULE}")


def _has_wrong_name(name: str) -> bool:
    return len(name) > MAX_JOB_NAME or not _NAME.fullmatch(name)


def _job_faults(job: Table) -> Iterator[str]:
    spec = job.get("spec") or {}
    if _has_wrong_name(str(job["metadata"].get("name", ""))):
        yield _NAME_RULE
    if not str(spec.get("entrypoint", "")).strip():
        yield "it has no entrypoint"
    if spec.get("clusterSelector"):
        if spec.get("backoffLimit"):
            yield "backoffLimit cannot be combined with clusterSelector"
        if spec.get("suspend"):
            yield "suspend cannot be combined with clusterSelector"
    elif not spec.get("rayClusterSpec"):
        yield "it has no rayClusterSpec"
    for key in ("suspend", "ttlSecondsAfterFinished"):
        if spec.get(key) and not spec.get("shutdownAfterJobFinishes"):
            yield f"{key} needs shutdownAfterJobFinishes"
    for key, least in (("backoffLimit", 0), ("ttlSecondsAfterFinished", 0), ("activeDeadlineSeconds", 1)):
        if spec.get(key, least) < least:
            yield f"{key} is {spec[key]}: use {least} or more"
    if spec.get("submissionMode") == "SidecarMode" and spec.get("submitterPodTemplate"):
        yield "SidecarMode does not allow submitterPodTemplate"
    yield from _cluster_faults(spec.get("rayClusterSpec") or {})


def _cluster_faults(cluster: Table) -> Iterator[str]:
    if (cluster.get("authOptions") or {}).get("mode") == "token":
        yield from _version_faults(str(cluster.get("rayVersion") or ""))
    is_v2 = (cluster.get("autoscalerOptions") or {}).get("version") == "v2"
    groups = [("headGroupSpec", cluster.get("headGroupSpec") or {})]
    names = [str(group.get("groupName", "")) for group in cluster.get("workerGroupSpecs") or ()]
    groups += [
        (f"group {name}", group) for name, group in zip(names, cluster.get("workerGroupSpecs") or (), strict=True)
    ]
    if len(set(names)) < len(names):
        yield "two worker groups have the same name"
    for place, group in groups:
        yield from (f"{place}: {fault}" for fault in _group_faults(group, is_v2=is_v2))


def _version_faults(version: str) -> Iterator[str]:
    found = _VERSION.fullmatch(version)
    if not version:
        yield "authOptions.mode token needs rayVersion"
    elif found is None:
        yield f"rayVersion {version} is not a version such as 2.60.0"
    elif (int(found[1]), int(found[2])) < OLDEST_WITH_TOKENS:
        yield f"rayVersion is {version}, and authOptions.mode token needs Ray 2.52.0 or later"


def _group_faults(group: Table, *, is_v2: bool) -> Iterator[str]:
    pod = (group.get("template") or {}).get("spec") or {}
    if not pod.get("containers"):
        yield "it has no container, and the first one must be Ray's"
    if is_v2 and pod.get("restartPolicy", "Never") != "Never":
        yield "restartPolicy must be Never with autoscaler v2"
    parameters = group.get("rayStartParams") or {}
    twice = [name for name in _RESOURCE_PARAMETERS if name in parameters]
    if group.get("resources") and twice:
        yield f"resources are in rayStartParams ({', '.join(twice)}) too"
    if "labels" in parameters:
        yield "labels are in rayStartParams: set them as labels of the group"
    numbers = [group.get(name) for name in ("minReplicas", "replicas", "maxReplicas")]
    given = [number for number in numbers if number is not None]
    if given != sorted(given) or any(number < 0 for number in given):
        yield f"minReplicas, replicas, maxReplicas are {numbers}: they must ascend"
