"""Dashboard and alerts are objects of the chart, made of the files of infra/grafana."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from tests.helm.everything import EVERYTHING, Render, find
from tests.repository import REPOSITORY

FOLDER = REPOSITORY / "infra" / "grafana"


def kinds(render: Render, **values: Any) -> set[str]:
    return {one["kind"] for one in render(values)}


def test_grafanas_sidecar_finds_the_dashboard(render: Render) -> None:
    found = find(render(), "ConfigMap", "suphx-dashboard")
    assert found["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert json.loads(found["data"]["suphx.json"]) == json.loads((FOLDER / "suphx.json").read_text(encoding="utf-8"))
    objects = render(dashboard={"enabled": False})
    assert [one for one in objects if one["metadata"]["name"] == "suphx-dashboard"] == []


def test_the_alerts_are_those_that_promtool_has_tried(render: Render) -> None:
    found = find(render(EVERYTHING), "PrometheusRule", "suphx-alerts")
    assert found["spec"] == yaml.safe_load((FOLDER / "alerts.yaml").read_text(encoding="utf-8"))
    assert found["metadata"]["labels"]["release"] == "prometheus"


@pytest.mark.parametrize(("enabled", "is_made"), [("auto", False), ("always", True), ("never", False)])
def test_alerts_need_the_prometheus_operator(render: Render, enabled: str, is_made: bool) -> None:
    # Helm's engine renders here for a cluster without custom resources.
    assert ("PrometheusRule" in kinds(render, alerts={"enabled": enabled})) == is_made
