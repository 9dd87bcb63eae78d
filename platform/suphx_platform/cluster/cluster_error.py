"""Errors of requests to a Kubernetes API server, each with the object and the next step; whether one is configured.

Without an import of the Kubernetes client, which takes a second.

::

    ClusterError
    ├── AbsentError          the object does not exist
    ├── ConflictError        another client changed the object since it was read
    ├── DeniedError          the credentials do not allow the request
    └── ExistsError          the object exists already
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from suphx.json_text import parse_json
from suphx.printable_text import shortened
from suphx_platform.cluster.kuberay import supported_range

POD_FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Token and namespace of a pod with a service account."""


class ClusterError(Exception):
    """The cluster refused a request, or cannot be reached."""


class AbsentError(ClusterError):
    """An object does not exist, or not any more."""


class ConflictError(ClusterError):
    """Another client has changed the object since it was read."""


class DeniedError(ClusterError):
    """The credentials do not allow a request."""


class ExistsError(ClusterError):
    """An object of this name exists already."""


def refused(what: str, namespace: str, status: int, body: Any) -> ClusterError:
    """Return the error of an answer with an HTTP ``status``; ``what``: the object, such as ``RayJob a1``."""
    reason, message = "", shortened(str(body), 300)
    with suppress(ValueError):
        answer = parse_json(body) if isinstance(body, str | bytes) else {}
        if isinstance(answer, dict):  # a Status object
            reason, message = str(answer.get("reason", "")), str(answer.get("message", ""))
    text = f"{what}: {message or f'HTTP {status}'}"
    if status == 409:
        return ExistsError(text) if reason == "AlreadyExists" else ConflictError(f"{text}. Try again")
    kinds = {403: DeniedError, 404: AbsentError}
    kind = kinds.get(status, ClusterError)
    return kind(f"{text}. {_next_step(status, what, namespace, message)}")


def unreachable(address: str, error: Exception) -> ClusterError:
    """Return the error of a server that does not answer."""
    return ClusterError(
        f"the API server {address} does not answer ({cause_of(error)}). Check that the cluster is running, that this "
        "machine can reach it (VPN, firewall, proxy), and that your kubeconfig's context is the right one "
        "(`kubectl config current-context`; choose another with --context)"
    )


def cause_of(error: Exception) -> str:
    """Return in a few words why a connection failed."""
    if isinstance(error, TimeoutError):
        return "timeout"
    return re.sub(r"^.*: |\[Errno \d+\] ", "", str(error.args[-1] if error.args else error))


def _next_step(status: int, what: str, namespace: str, message: str) -> str:
    if status == 401:
        return "Your credentials are not accepted: log in to the cluster again"
    if status == 403 and "quota" in message:
        if any(text in message for text in ("count/rayjobs", "count/configmaps", "requested: configmaps")):
            return "Stopped and ended runs count too: list them with suphx jobs, and remove one with suphx delete RUN"
        return "Stop or delete another run, use a smaller --preset, or ask for a larger ResourceQuota"
    if status == 403 and "being terminated" in message:
        return f"Wait until namespace {namespace} is deleted and create it again, or use another --namespace"
    if status == 403:
        return f"Ask for the chart's launcher Role in namespace {namespace} (value launcher.subjects)"
    if status == 404 and what.startswith("Ray"):
        return f"If the cluster does not know ray.io, install the KubeRay operator {supported_range()}"
    if status == 404:
        return f"Check that it is in namespace {namespace} (suphx jobs; --namespace)"
    if status in (400, 422) and what.startswith("Ray"):
        return f"The chart supports KubeRay {supported_range()}: check the version of the operator and of its CRDs"
    return "Try again; if the error remains, ask the administrators of the cluster"


def kubeconfig_files() -> list[Path]:
    """Return the existing files of KUBECONFIG; without it ``~/.kube/config`` if that exists."""
    named = os.environ.get("KUBECONFIG") or "~/.kube/config"
    paths = [Path(name).expanduser() for name in named.split(os.pathsep) if name]
    return [path for path in paths if path.exists()]


def check_configured(context: str | None) -> None:
    """Raise ClusterError unless there is a kubeconfig, or, without a ``context``, this is a pod with an account."""
    is_in_pod = bool(os.environ.get("KUBERNETES_SERVICE_HOST")) and (POD_FOLDER / "token").is_file()
    if kubeconfig_files() or (context is None and is_in_pod):
        return
    named = os.environ.get("KUBECONFIG")
    cause = f"KUBECONFIG names {named}, which does not exist" if named else "No cluster configured"
    raise ClusterError(f"{cause}. Set KUBECONFIG to your kubeconfig file (`suphx launch --dry-run=client` needs none)")
