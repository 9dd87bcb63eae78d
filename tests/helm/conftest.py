"""The chart under test, rendered by Helm's own engine, and KubeRay's schemas."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, cast

import kubernetes_validate.utils
import pytest
import yaml
from helm_python import Chart

from tests.helm.everything import Render
from tests.helm.kuberay_schema import KubeRaySchemas, kuberay_schemas
from tests.repository import REPOSITORY

CHART = REPOSITORY / "helm" / "suphx"


@pytest.fixture(scope="session")
def chart() -> Chart:
    return Chart.load(CHART)


@pytest.fixture(scope="session")
def render(chart: Chart) -> Render:
    """Call with values: the objects of release ``suphx`` in namespace ``mahjong``, in the order of their templates.

    Each set of values is rendered once a session; every call returns its own copy.
    """
    known: dict[str, bytes] = {}

    def rendered(values: Mapping[str, Any] | None = None, **settings: Any) -> list[dict[str, Any]]:
        all_values = {**(values or {}), **settings}
        key = json.dumps(all_values, sort_keys=True)
        if key not in known:
            texts = chart.render(all_values, name="suphx", namespace="mahjong")
            manifests = [text for path, text in sorted(texts.items()) if path.endswith(".yaml")]
            objects = [found for text in manifests for found in yaml.load_all(text, yaml.CSafeLoader) if found]
            known[key] = pickle.dumps(objects)
        return cast(list[dict[str, Any]], pickle.loads(known[key]))

    return rendered


@pytest.fixture(scope="session", autouse=True)
def _schemas_are_read_once() -> Iterator[None]:
    """Keep the schemas of Kubernetes that were read: kubernetes_validate reads 4 MB again for every object."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kubernetes_validate.utils, "schema_contents", cache(kubernetes_validate.utils.schema_contents))
        yield


@pytest.fixture(scope="session")
def kuberay() -> KubeRaySchemas:
    return kuberay_schemas()
