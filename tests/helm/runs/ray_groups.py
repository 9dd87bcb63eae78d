"""The groups of pods of a RayJob or RayCluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast


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
