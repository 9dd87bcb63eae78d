"""The user's kubeconfig: checked before the Kubernetes client reads it, whose errors do not name the file and the fix.

Importing this file is cheap: commands check it before they import anything that takes seconds.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml

from suphx_platform.cluster.cluster_error import ClusterError

POD_FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Token and namespace of a pod with a service account."""


def kubeconfig_files() -> list[Path]:
    """Return the existing files of KUBECONFIG; without it ``~/.kube/config`` if that exists."""
    named = os.environ.get("KUBECONFIG") or "~/.kube/config"
    paths = [Path(name).expanduser() for name in named.split(os.pathsep) if name]
    return [path for path in paths if path.exists()]


def is_in_pod() -> bool:
    """Return whether this process runs in a pod that may speak to its API server."""
    return bool(os.environ.get("KUBERNETES_SERVICE_HOST")) and (POD_FOLDER / "token").is_file()


def check_configured(context: str | None) -> None:
    """Raise ClusterError unless a cluster is configured: by a kubeconfig that has ``context``, or by being in a pod."""
    files = kubeconfig_files()
    if not files and context is None and is_in_pod():
        return
    check_kubeconfig(files, context)


def check_kubeconfig(files: list[Path], context: str | None) -> None:
    """Raise ClusterError if there is no file, one is damaged, or there is no such context; None: the current one."""
    if not files:
        named = os.environ.get("KUBECONFIG")
        cause = f"KUBECONFIG names {named}, which does not exist" if named else "No cluster configured"
        raise ClusterError(
            f"{cause}. Set KUBECONFIG to your kubeconfig file (`suphx launch --dry-run=client` needs none)"
        )
    names: list[str] = []
    current = ""
    for path in files:
        config = _read(path)
        contexts = [each for each in config.get("contexts") or () if isinstance(each, dict)]
        names += [str(each["name"]) for each in contexts if "name" in each]
        current = current or str(config.get("current-context") or "")
    places, known = ", ".join(map(str, files)), ", ".join(names) or "none"
    if context is not None and context not in names:
        raise ClusterError(f"there is no context {context} in {places}. Its contexts: {known}")
    if context is None and current not in names:
        cause = f"has no context {current!r}, its current one" if current else "has no current context"
        raise ClusterError(f"{places} {cause}. Choose one with --context: {known}")


def _read(path: Path) -> dict[str, Any]:
    try:
        config = yaml.safe_load(path.read_bytes())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        cause = f"line {mark.line + 1}: {getattr(error, 'problem', '')}" if mark else str(error)
        raise ClusterError(f"{path} is not YAML ({cause}). {_REMEDY}") from error
    except OSError as error:
        raise ClusterError(f"{path} cannot be read ({error.strerror}). {_REMEDY}") from error
    if not isinstance(config, dict) or not isinstance(config.get("contexts") or [], list):
        raise ClusterError(f"{path} is not a kubeconfig. {_REMEDY}")
    return config


_REMEDY = "Correct it, or set KUBECONFIG to another file"
