"""Dashboard and alerts speak of metrics that exist; each panel has data when a real Prometheus reads a real run."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import ray
import yaml

from suphx_platform.selfplay.metrics import COUNTERS, GAUGES
from tests.free_port import free_port
from tests.repository import REPOSITORY
from tests.suphx_platform.selfplay.exported_metric import ON_RAY, AllSeenError, exported
from tests.suphx_platform.selfplay.small_trainer import new_trainer

HERE = Path(__file__).parent
FOLDER = REPOSITORY / "infra" / "grafana"
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "suphx.json").read_text(encoding="utf-8"))
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
RULES: list[dict[str, Any]] = yaml.safe_load((FOLDER / "alerts.yaml").read_text(encoding="utf-8"))["groups"][0]["rules"]
NEEDS_A_GPU = {"GPU use"}
SHOWN_OTHERWISE = {"ray_suphx_decisions_per_second", "ray_suphx_stopping"}
"""The panel takes the rate of the counter; only an alert needs to know who stops."""
OF_THE_STAGE = dict.fromkeys(
    ("uploads_waiting", "storage_outage_seconds", "tracking_waiting", "tracking_outage_seconds"), 0
)
"""What the stage shows, which is not run here."""


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


def test_panels_have_places_of_their_own() -> None:
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    cells: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        own = set(
            itertools.product(range(place["x"], place["x"] + place["w"]), range(place["y"], place["y"] + place["h"]))
        )
        assert place["x"] + place["w"] <= 24
        assert not own & cells, panel["title"]
        cells |= own


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


@contextmanager
def prometheus(folder: Path, target: str) -> Iterator[str]:
    """Run a Prometheus that reads ``target`` while the block runs; yields its address."""
    address = f"127.0.0.1:{free_port()}"
    job = {"job_name": "ray", "static_configs": [{"targets": [target], "labels": {"suphx_run": "here"}}]}
    settings = {"global": {"scrape_interval": "2s"}, "scrape_configs": [job]}
    (folder / "prometheus.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    options = ["--config.file=prometheus.yml", "--storage.tsdb.path=data", f"--web.listen-address={address}"]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(["prometheus", *options], cwd=folder, stdout=log, stderr=log)
    try:
        yield f"http://{address}"
    finally:
        process.terminate()
        process.wait()


def ask(server: str, query: str) -> list[Any]:
    """Return what Prometheus finds for a query now; nothing while it starts."""
    url = f"{server}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            found: list[Any] = json.loads(answer.read())["data"]["result"]
            return found
    except ConnectionError:
        return []
    except urllib.error.URLError as error:
        if isinstance(error.reason, ConnectionError):
            return []
        raise


@pytest.mark.ray
@pytest.mark.slow
def test_every_panel_has_data_from_a_real_prometheus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("prometheus") is None:
        pytest.skip("no prometheus: apt-get install prometheus, or put it on the PATH")
    monkeypatch.setenv("RAY_metrics_report_interval_ms", "2000")
    wanted = {
        f"{panel['title']}: {query}": query
        for panel in PANELS
        if panel["title"] not in NEEDS_A_GPU
        for query in queries(panel)
    }
    empty = dict(wanted)
    servers: list[str] = []

    def look(_: Mapping[str, float]) -> None:
        if not servers:
            (node,) = [node for node in ray.nodes() if node["Alive"]]
            target = f"{node['NodeManagerAddress']}:{node['MetricsExportPort']}"
            servers.append(running.enter_context(prometheus(tmp_path, target)))
        for name, query in list(empty.items()):
            if ask(servers[0], query):
                del empty[name]
        if not empty:
            raise AllSeenError

    with ExitStack() as running, suppress(AllSeenError):
        config = replace(ON_RAY, max_minutes=20.0)
        new_trainer(tmp_path / "run", config, report=look, watch=lambda: OF_THE_STAGE).run()
    assert sorted(empty) == []
