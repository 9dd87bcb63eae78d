"""Dashboard and alerts speak of metrics that exist."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from suphx_platform.selfplay.metrics import COUNTERS, GAUGES
from tests.repository import REPOSITORY
from tests.suphx_platform.selfplay.small_trainer import exported

HERE = Path(__file__).parent
FOLDER = REPOSITORY / "infra" / "grafana"
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "suphx.json").read_text(encoding="utf-8"))
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
RULES: list[dict[str, Any]] = yaml.safe_load((FOLDER / "alerts.yaml").read_text(encoding="utf-8"))["groups"][0]["rules"]
SHOWN_OTHERWISE = {"ray_suphx_decisions_per_second", "ray_suphx_stopping"}
"""The panel takes the rate of the counter; only an alert needs to know who stops."""


def queries(panel: dict[str, Any]) -> list[str]:
    """Return a panel's queries as Grafana would send them for all runs."""
    expressions = [target["expr"] for target in panel["targets"]]
    values = {"$namespace": ".*", "$run": ".*", "$__rate_interval": "1m"}
    for name, value in values.items():
        expressions = [text.replace(name, value) for text in expressions]
    return expressions


def metrics_in(text: str) -> set[str]:
    return set(re.findall(r"ray_suphx_\w+", text))


def all_metrics() -> set[str]:
    return {f"ray_{exported(name)}" for name in (*GAUGES, *COUNTERS)}


def test_the_dashboard_shows_every_metric_and_no_other() -> None:
    shown = set().union(*(metrics_in(query) for panel in PANELS for query in queries(panel)))
    assert shown == all_metrics() - SHOWN_OTHERWISE


def test_alerts_speak_of_metrics_that_exist() -> None:
    for rule in RULES:
        assert metrics_in(rule["expr"]) <= all_metrics(), rule["alert"]
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert {"summary", "action"} == rule["annotations"].keys()


def test_promtool_finds_the_alerts_right(tmp_path: Path) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("no promtool: apt-get install prometheus, or put it on the PATH")
    shutil.copy(FOLDER / "alerts.yaml", tmp_path)
    shutil.copy(HERE / "alerts_test.yaml", tmp_path)
    for command in (["check", "rules", "alerts.yaml"], ["test", "rules", "alerts_test.yaml"]):
        done = subprocess.run([promtool, *command], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_is_tried() -> None:
    tried = yaml.safe_load((HERE / "alerts_test.yaml").read_text(encoding="utf-8"))["tests"]
    told = {case["alertname"] for test in tried for case in test["alert_rule_test"] if case["exp_alerts"]}
    assert told == {rule["alert"] for rule in RULES}
