"""Patches that change the number of simulator pods of a run."""

from __future__ import annotations

import re
from typing import Any

from suphx_platform.cluster.cluster_error import ClusterError

Object = dict[str, Any]

GROUP = "simulator"
_NUMBER = re.compile(r"(cluster\.num_simulators=)\d+")  # of any kind of recipe


def resized_job(job: Object, pods: int) -> Object:
    """Return the patch of a RayJob: the group's pods, and as many simulators as fit into them."""
    spec = job["spec"]
    cluster = spec["rayClusterSpec"]
    slots = int(float((_group(cluster).get("resources") or {}).get(GROUP, 1)))
    entrypoint, found = _NUMBER.subn(rf"\g<1>{pods * slots}", spec["entrypoint"])
    if not found:
        raise ClusterError(
            "this run has no simulators whose number can change: a tournament has as many pods as nightly.workers of "
            "the chart says"
        )
    return {"spec": {"entrypoint": entrypoint, "rayClusterSpec": {**cluster, **resized_group(cluster, pods)}}}


def resized_group(cluster: Object, pods: int) -> Object:
    """Return the patch of a RayCluster's spec: this number of pods, or with the autoscaler at most this number."""
    group = _group(cluster)
    least = group.get("minReplicas") or 0
    numbers = {"replicas": pods, "minReplicas": min(least, pods), "maxReplicas": max(pods, 1)}
    groups = [{**one, **numbers} if one is group else one for one in cluster["workerGroupSpecs"]]
    return {"workerGroupSpecs": groups}


def _group(cluster: Object) -> Object:
    for group in cluster.get("workerGroupSpecs") or ():
        if group.get("groupName") == GROUP:
            found: Object = group
            return found
    raise ClusterError(
        f"this run has no worker group {GROUP}: its recipe has no self-play, or it was not created by the chart"
    )
