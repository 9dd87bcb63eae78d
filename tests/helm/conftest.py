"""The chart under test, rendered by Helm's own engine, and KubeRay's schemas."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from helm_python import Chart

from tests.helm.kuberay_schema import KubeRaySchemas

REPOSITORY = Path(__file__).resolve().parents[2]
CHART = REPOSITORY / "helm" / "suphx"
Render = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="session")
def chart() -> Chart:
    return Chart.load(CHART)


@pytest.fixture(scope="session")
def render(chart: Chart) -> Render:
    """Call with values: the objects of release ``suphx`` in namespace ``mahjong``, in the order of their templates."""

    def rendered(values: Mapping[str, Any] | None = None, **settings: Any) -> list[dict[str, Any]]:
        texts = chart.render({**(values or {}), **settings}, name="suphx", namespace="mahjong")
        manifests = [text for path, text in sorted(texts.items()) if path.endswith(".yaml")]
        return [found for text in manifests for found in yaml.safe_load_all(text) if found]

    return rendered


@pytest.fixture(scope="session")
def kuberay() -> KubeRaySchemas:
    """KubeRay's CRDs: $SUPHX_KUBERAY_CRDS, or ../shared/data/kuberay-crds-1.7.0 beside the repository, else skips."""
    given = os.environ.get("SUPHX_KUBERAY_CRDS")
    folder = Path(given) if given else REPOSITORY.parent / "shared" / "data" / "kuberay-crds-1.7.0"
    if not folder.is_dir():
        pytest.skip(f"no CRDs at {folder}: set SUPHX_KUBERAY_CRDS to the folder of KubeRay 1.7's ray.io_*.yaml")
    return KubeRaySchemas(folder)
