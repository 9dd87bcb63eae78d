"""The user's kubeconfig: which contexts it has, before a client reads it that has no words for its faults."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml

from suphx_platform.cluster_error import ClusterError


def kubeconfig_files() -> list[Path]:
    """Return the files that are there, of those that KUBECONFIG names, else of the usual place."""
    named = os.environ.get("KUBECONFIG") or "~/.kube/config"
    paths = [Path(name).expanduser() for name in named.split(os.pathsep) if name]
    return [path for path in paths if path.exists()]


def check_kubeconfig(files: list[Path], context: str | None) -> None:
    """Raise ClusterError if a file is damaged, or there is no such context; None: the current one."""
    names: list[str] = []
    current = ""
    for path in files:
        config = _read(path)
        contexts = [each for each in config.get("contexts") or () if isinstance(each, dict)]
        names += [str(each["name"]) for each in contexts if "name" in each]
        current = current or str(config.get("current-context") or "")
    places, known = ", ".join(map(str, files)), ", ".join(names) or "none"
    if context is not None and context not in names:
        raise ClusterError(f"there is no context {context} in {places or 'any kubeconfig'}: its contexts are {known}")
    if context is None and files and current not in names:
        told = f"the current context of {places} is {current!r}" if current else f"{places} has no current context"
        raise ClusterError(f"{told}: name another with --context, its contexts are {known}")


def _read(path: Path) -> dict[str, Any]:
    try:
        config = yaml.safe_load(path.read_bytes())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        cause = f"line {mark.line + 1}: {getattr(error, 'problem', '')}" if mark else str(error)
        raise ClusterError(f"{path} is not YAML ({cause}): mend it, or name another with KUBECONFIG") from error
    except OSError as error:
        raise ClusterError(f"{path} cannot be read ({error.strerror}): name another with KUBECONFIG") from error
    if not isinstance(config, dict) or not isinstance(config.get("contexts") or [], list):
        raise ClusterError(f"{path} is no kubeconfig: mend it, or name another with KUBECONFIG")
    return config
