"""The rules by which KubeRay's operator (1.7) rejects a RayJob or RayCluster: what the chart makes must break none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

MAX_JOB_NAME, MAX_CLUSTER_NAME = 47, 53
OLDEST_WITH_TOKENS = (2, 52)
"""The first Ray version with token authentication; KubeRay rejects older ones."""
_NAME = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")
_VERSION = re.compile(r"v?(\d+)\.(\d+)(\.\d+)*")
_RESOURCE_PARAMETERS = ("num-cpus", "num-gpus", "memory", "resources")

_CONDITIONS = ("jobStatus", "jobDeploymentStatus")

Table = Mapping[str, Any]


def broken_rules(found: Table) -> list[str]:
    """Return a line for each rule of the operator that a RayJob or RayCluster breaks."""
    spec, name = found.get("spec") or {}, str(found["metadata"].get("name", ""))
    if found.get("kind") == "RayCluster":
        return [*_name_faults(name, MAX_CLUSTER_NAME), *_cluster_faults(spec)]
    return [*_name_faults(name, MAX_JOB_NAME), *_job_faults(spec)]


def _name_faults(name: str, longest: int) -> Iterator[str]:
    if len(name) > longest or not _NAME.fullmatch(name):
        yield f"its name must begin with a letter and have at most {longest} lower-case letters, digits and dashes"


def _job_faults(spec: Table) -> Iterator[str]:
    if not str(spec.get("entrypoint", "")).strip():
        yield "it has no entrypoint"
    if not spec.get("rayClusterSpec"):
        yield "it has no rayClusterSpec"
    for key in ("suspend", "ttlSecondsAfterFinished"):
        if spec.get(key) and not spec.get("shutdownAfterJobFinishes"):
            yield f"{key} needs shutdownAfterJobFinishes"
    rules = (spec.get("deletionStrategy") or {}).get("deletionRules") or ()
    if rules and spec.get("shutdownAfterJobFinishes"):
        yield "deletionRules and shutdownAfterJobFinishes exclude each other"
    if (spec.get("rayClusterSpec") or {}).get("enableInTreeAutoscaling") and "DeleteWorkers" in str(rules):
        yield "DeleteWorkers cannot be used with autoscaling"
    whens = [(rule["policy"], *(rule["condition"].get(key) for key in _CONDITIONS)) for rule in rules]
    if len(set(whens)) < len(whens):
        yield "two deletionRules have the same condition and policy"
    if spec.get("submissionMode") == "SidecarMode" and (
        spec.get("submitterPodTemplate") or spec.get("submitterConfig")
    ):
        yield "SidecarMode takes neither submitterPodTemplate nor submitterConfig"
    for key, least in (("backoffLimit", 0), ("ttlSecondsAfterFinished", 0), ("activeDeadlineSeconds", 1)):
        if spec.get(key, least) < least:
            yield f"{key} is {spec[key]}: use {least} or more"
    yield from _cluster_faults(spec.get("rayClusterSpec") or {})


def _cluster_faults(cluster: Table) -> Iterator[str]:
    if (cluster.get("authOptions") or {}).get("mode") == "token":
        version = str(cluster.get("rayVersion") or "")
        found = _VERSION.fullmatch(version)
        if not version:
            yield "authOptions.mode token needs rayVersion"
        elif found is None:
            yield f"rayVersion {version} is not a version such as 2.60.0"
        elif (int(found[1]), int(found[2])) < OLDEST_WITH_TOKENS:
            yield f"rayVersion is {version}, and authOptions.mode token needs Ray 2.52.0 or later"
    is_v2 = cluster.get("enableInTreeAutoscaling") and (cluster.get("autoscalerOptions") or {}).get("version") == "v2"
    workers = cluster.get("workerGroupSpecs") or ()
    names = [str(group.get("groupName", "")) for group in workers]
    if len(set(names)) < len(names):
        yield "two worker groups have the same name"
    groups = [("headGroupSpec", cluster.get("headGroupSpec") or {})]
    groups += [(f"group {name}", group) for name, group in zip(names, workers, strict=True)]
    for place, group in groups:
        yield from (f"{place}: {fault}" for fault in _group_faults(group, is_v2=bool(is_v2)))


def _group_faults(group: Table, *, is_v2: bool) -> Iterator[str]:
    pod = (group.get("template") or {}).get("spec") or {}
    if not str((pod.get("containers") or [{}])[0].get("name", "")).startswith("ray"):
        yield "its first container must be Ray's, with a name that begins with ray"
    if is_v2 and pod.get("restartPolicy", "Never") != "Never":
        yield "restartPolicy must be Never with autoscaler v2"
    parameters = group.get("rayStartParams") or {}
    twice = [name for name in _RESOURCE_PARAMETERS if name in parameters]
    if group.get("resources") and twice:
        yield f"resources are in rayStartParams ({', '.join(twice)}) too"
    if not all(isinstance(value, str) for value in parameters.values()):
        yield "the values of rayStartParams must be strings"
    numbers = [group.get(name) for name in ("minReplicas", "replicas", "maxReplicas")]
    given = [number for number in numbers if number is not None]
    if given != sorted(given) or any(number < 0 for number in given):
        yield f"minReplicas, replicas, maxReplicas are {numbers}: they must ascend"
