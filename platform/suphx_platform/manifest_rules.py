"""What KubeRay's operator refuses although its schemas allow it: found here, before anything is created."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from suphx_platform.cluster_error import ClusterError

MAX_JOB_NAME = 47
"""KubeRay adds to it to name clusters and services."""
_NAME = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")
_RESOURCE_PARAMETERS = ("num-cpus", "num-gpus", "memory", "resources")

Table = Mapping[str, Any]


def check_job(job: Table) -> None:
    """Raise ClusterError that lists everything for which the operator would refuse this RayJob."""
    found = list(_job_faults(job))
    if found:
        raise ClusterError(
            f"RayJob {job['metadata'].get('name')} would be refused: {'; '.join(found)}. Mend the chart's values "
            "(helm upgrade) and launch again"
        )


def _job_faults(job: Table) -> Iterator[str]:
    spec = job.get("spec") or {}
    name = str(job["metadata"].get("name", ""))
    if len(name) > MAX_JOB_NAME or not _NAME.fullmatch(name):
        yield f"its name has to begin with a letter, and to be {MAX_JOB_NAME} small letters, digits and - at most"
    if not str(spec.get("entrypoint", "")).strip():
        yield "it has no entrypoint"
    if spec.get("clusterSelector"):
        if spec.get("backoffLimit"):
            yield "backoffLimit cannot go with clusterSelector"
        if spec.get("suspend"):
            yield "suspend cannot go with clusterSelector"
    elif not spec.get("rayClusterSpec"):
        yield "it has no rayClusterSpec"
    for key in ("suspend", "ttlSecondsAfterFinished"):
        if spec.get(key) and not spec.get("shutdownAfterJobFinishes"):
            yield f"{key} needs shutdownAfterJobFinishes"
    for key, least in (("backoffLimit", 0), ("ttlSecondsAfterFinished", 0), ("activeDeadlineSeconds", 1)):
        if spec.get(key, least) < least:
            yield f"{key} is {spec[key]}: use {least} or more"
    if spec.get("submissionMode") == "SidecarMode" and spec.get("submitterPodTemplate"):
        yield "SidecarMode takes no submitterPodTemplate"
    yield from _cluster_faults(spec.get("rayClusterSpec") or {})


def _cluster_faults(cluster: Table) -> Iterator[str]:
    if (cluster.get("authOptions") or {}).get("mode") == "token" and not cluster.get("rayVersion"):
        yield "authOptions.mode token needs rayVersion"
    is_v2 = (cluster.get("autoscalerOptions") or {}).get("version") == "v2"
    groups = [("headGroupSpec", cluster.get("headGroupSpec") or {})]
    names = [str(group.get("groupName", "")) for group in cluster.get("workerGroupSpecs") or ()]
    groups += [
        (f"group {name}", group) for name, group in zip(names, cluster.get("workerGroupSpecs") or (), strict=True)
    ]
    if len(set(names)) < len(names):
        yield "two worker groups have one name"
    for place, group in groups:
        yield from (f"{place}: {fault}" for fault in _group_faults(group, is_v2=is_v2))


def _group_faults(group: Table, *, is_v2: bool) -> Iterator[str]:
    pod = (group.get("template") or {}).get("spec") or {}
    if not pod.get("containers"):
        yield "it has no container, and the first one has to be Ray's"
    if is_v2 and pod.get("restartPolicy", "Never") != "Never":
        yield "restartPolicy has to be Never with autoscaler v2"
    parameters = group.get("rayStartParams") or {}
    twice = [name for name in _RESOURCE_PARAMETERS if name in parameters]
    if group.get("resources") and twice:
        yield f"resources stand in rayStartParams ({', '.join(twice)}) too"
    numbers = [group.get(name) for name in ("minReplicas", "replicas", "maxReplicas")]
    given = [number for number in numbers if number is not None]
    if given != sorted(given) or any(number < 0 for number in given):
        yield f"minReplicas, replicas, maxReplicas are {numbers}: they have to ascend"
