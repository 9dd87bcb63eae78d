"""What can go wrong between us and a Kubernetes API server, each with the object and the next step.

::

    ClusterError
    ├── ConflictError        somebody else changed the object meanwhile: read it again
    └── ExistsError          it is there already
"""

from __future__ import annotations

import json
import re
from typing import Any


class ClusterError(Exception):
    """The cluster refused something, or cannot be reached."""


class ConflictError(ClusterError):
    """An object is not what it was when it was read."""


class ExistsError(ClusterError):
    """An object that was to be created is there already."""


def refused(what: str, namespace: str, status: int, body: Any) -> ClusterError:
    """Return the error of an answer with an HTTP ``status``; ``what``: the object, such as ``RayJob a1``."""
    reason, message = _said(body)
    text = f"{what}: {message or f'HTTP {status}'}"
    if status == 409:
        return ExistsError(text) if reason == "AlreadyExists" else ConflictError(f"{text}; try again")
    return ClusterError(f"{text}; {_next_step(status, what, namespace, message)}")


def unreachable(address: str, error: Exception) -> ClusterError:
    """Return the error of a server that does not answer."""
    cause = re.sub(r"^.*: |\[Errno \d+\] ", "", str(getattr(error, "reason", None) or error))
    return ClusterError(
        f"the API server {address} does not answer ({cause}): see that the cluster runs and that your context is right "
        "(kubectl config current-context; --context)"
    )


def _said(body: Any) -> tuple[str, str]:
    """Return reason and message of a ``Status`` object; empty where the body is none."""
    try:
        status = json.loads(body) if isinstance(body, str | bytes) else {}
    except ValueError:
        return "", str(body).strip()[:300]
    return str(status.get("reason", "")), str(status.get("message", ""))


def _next_step(status: int, what: str, namespace: str, message: str) -> str:
    if status == 401:
        return "your credentials are not accepted: log in to the cluster again"
    if status == 403 and "quota" in message:
        return "stop another run, take a smaller --preset, or have the ResourceQuota raised"
    if status == 403:
        return f"ask for the Role of the launcher in namespace {namespace} (launcher.subjects of the chart)"
    if status == 404 and what.startswith("Ray"):
        return "if the cluster does not know ray.io, install the KubeRay operator 1.7"
    if status == 404:
        return f"see that it is in namespace {namespace} (suphx jobs; --namespace)"
    if status in (400, 422):
        return "the chart and the cluster do not fit each other: compare KubeRay's version with the chart's"
    return "try again; if it stays, ask who runs the cluster"
