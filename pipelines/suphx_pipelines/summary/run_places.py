"""Where a person finds a run of a cluster: paths of the driver's pod mean nothing outside, and go with the pod."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def rayjob() -> str:
    """Return the name of the RayJob whose driver this process is, which ``suphx status`` takes; empty elsewhere.

    KubeRay names the cluster of a RayJob after it, with five characters more, and Ray marks what was submitted to it.
    """
    is_submitted = "RAY_JOB_CONFIG_JSON_ENV_VAR" in os.environ
    return os.environ.get("RAY_CLUSTER_NAME", "").rpartition("-")[0] if is_submitted else ""


def nets_address(nets: Path, run: Path, storage: str) -> str:
    """Return the agent with the ``nets`` of a run's folder: their folder, or in a cluster their address.

    ``storage``: its address, if there is one. Empty: nobody outside can play with them.
    """
    if not rayjob():
        return str(nets)
    return f"{storage.rstrip('/')}/{run.name}/{nets.relative_to(run).as_posix()}" if storage else ""


def continue_command(command: list[str]) -> list[str]:
    """Return the command that continues a run: ``command``, or in a cluster the one for its RayJob."""
    job = rayjob()
    return ["suphx", "resume", job] if job else command


def place_lines(run_id: str, *, storage: str, page: str) -> list[str]:
    """Return lines that name the places of a run of a cluster; ``page``: that of the run in MLflow, if it has one."""
    lines = [f"Report: report.html, an artifact of {run_id} in MLflow: {page}"] if page else []
    lines += [f"Checkpoints and results: {storage.rstrip('/')}/{run_id}"] if storage else []
    if not lines:
        lines = [f"The results of {run_id} end with its head pod: set storage.address or tracking.uri of the chart"]
    return [*lines, f"On your machine: suphx status {rayjob()}"]


def with_places(values: Mapping[str, object], run_id: str, *, storage: str, page: str) -> dict[str, object]:
    """Return the result of a command for a person: in a cluster with places instead of the path of the report."""
    if not rayjob():
        return dict(values)
    named = [line.partition(": ")[::2] for line in place_lines(run_id, storage=storage, page=page)]
    return {name: value for name, value in values.items() if name != "report"} | dict(named)
