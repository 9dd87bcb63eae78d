"""Versions of the KubeRay operator that the chart supports.

The range is one value: the annotation ``suphx/kuberay`` in the chart's Chart.yaml. Messages, checks and tests read it.
YAML and versions are imported when they are needed, as all commands import this file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_PLACES = (Path(__file__).resolve().parents[3] / "helm" / "suphx", Path(__file__).resolve().parents[1] / "chart")
CHART = next((place for place in _PLACES if (place / "Chart.yaml").is_file()), _PLACES[0])
"""The chart: in a checkout, or in an installed package."""
OPERATOR = "kuberay-operator"
"""Name of the operator's Deployment."""
RANGE_NOTE = "suphx/kuberay"
_VERSION = re.compile(r"v?(\d+\.\d+\.\d+)(?:-rc\.\d+)?")


def supported_range() -> str:
    """Return the range of versions that the chart supports, such as ``>=1.7.0, <1.9.0``."""
    import yaml

    about = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    return str(about["annotations"][RANGE_NOTE])


def operator_version(deployment: dict[str, Any]) -> str | None:
    """Return the operator's version from its Deployment: by the tag of its image, else by the label of its chart.

    None: neither is a version, as with an image that is pinned by its digest.
    """
    image = str(deployment["spec"]["template"]["spec"]["containers"][0].get("image", "")).partition("@")[0]
    label = (deployment["metadata"].get("labels") or {}).get("app.kubernetes.io/version", "")
    found = (_VERSION.fullmatch(text) for text in (image.rpartition(":")[2], str(label)))
    return next((match[1] for match in found if match), None)


def is_too_old(version: str) -> bool:
    """Return whether an operator lacks what the chart needs."""
    from packaging.specifiers import SpecifierSet

    lower = [one for one in SpecifierSet(supported_range()) if one.operator == ">="]
    return not all(one.contains(version) for one in lower)


def is_supported(version: str) -> bool:
    """Return whether an operator is in the supported range."""
    from packaging.specifiers import SpecifierSet

    return SpecifierSet(supported_range()).contains(version)
