"""Where a cluster is configured, checked before the Kubernetes client is imported, which takes a second."""

from __future__ import annotations

import os
from pathlib import Path

from suphx_platform.cluster.cluster_error import ClusterError

POD_FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Token and namespace of a pod with a service account."""


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
