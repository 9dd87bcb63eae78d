"""The chart that comes with this code, rendered by the program helm for ``suphx launch --dry-run=client``."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

from suphx_platform.cluster.cluster_error import ClusterError
from suphx_platform.cluster.kuberay import CHART

RELEASE = NAMESPACE = "suphx"
_TEMPLATE = "templates/run/template.yaml"
_SECONDS = 60
"""Rendering takes a fraction of a second."""


def rendered_template(values: Path | None, *, release: str | None, namespace: str | None) -> dict[str, Any]:
    """Return the ConfigMap with the templates of runs as ``helm install`` would create it; no cluster is needed.

    ``values``: a file with values of the chart. Raises ClusterError if helm or the chart is missing, or a value is
    wrong.
    """
    if not (CHART / "Chart.yaml").is_file():
        raise ClusterError(f"the chart is not in {CHART}: install suphx again, or use --dry-run=server")
    program = shutil.which("helm")
    if program is None:
        raise ClusterError(
            "--dry-run=client renders the chart with the program helm, which is not on PATH: install Helm 3.18 or "
            "later (https://helm.sh/docs/intro/install), or use --dry-run=server"
        )
    command = [program, "template", release or RELEASE, str(CHART), "--namespace", namespace or NAMESPACE]
    command += ["--show-only", _TEMPLATE, *(["--values", str(values)] if values is not None else [])]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS, check=True
        )
    except subprocess.CalledProcessError as error:
        cause = " ".join(error.stderr.split()).removeprefix("Error: ")
        what = values or "its default values"
        raise ClusterError(f"helm cannot render the chart with {what}: {cause}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ClusterError(
            f"{program} cannot be used ({error}): install Helm again, or use --dry-run=server"
        ) from error
    found: dict[str, Any] = yaml.safe_load(done.stdout)
    return found
