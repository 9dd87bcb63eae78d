"""What a real Prometheus would be given: Ray's own metrics port is read while a small run is on its way."""

from __future__ import annotations

import re
import time
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import ray

from suphx.selfplay.backend import Learned
from suphx.selfplay.layout import RayLayoutConfig
from suphx_platform.ray.session import ray_session
from suphx_platform.selfplay.metrics import COUNTERS, GAUGES, STOP_SECONDS_VARIABLE, RunMetrics
from suphx_platform.selfplay.policy_trainer import PolicyTrainer
from tests.suphx_platform.selfplay.small_trainer import CONFIG, KilledError, exported, new_play, new_trainer

LATER = {"suphx_faults"}
"""Shown when something breaks."""
ELSEWHERE = {
    *("suphx_uploads_waiting", "suphx_storage_outage_seconds"),
    *("suphx_tracking_waiting", "suphx_tracking_outage_seconds"),
}
"""Figures of the stage around the run, which has a storage and a tracking server (test_upload_queue.py,
test_outbox.py)."""
ON_RAY = replace(
    CONFIG, max_updates=0, max_minutes=3.0, evaluate_every=30, save_seconds=1.0, cluster=RayLayoutConfig(on_ray=True)
)
Samples = dict[str, list[tuple[dict[str, str], float]]]


def scrape() -> Samples:
    """Return the samples of this project at this node's metrics port: name -> (labels, value)."""
    (node,) = [node for node in ray.nodes() if node["Alive"]]
    address = f"http://{node['NodeManagerAddress']}:{node['MetricsExportPort']}/metrics"
    text = urllib.request.urlopen(address, timeout=10).read().decode()
    samples: Samples = {}
    for name, labels, value in re.findall(r"^ray_(suphx_\w+)\{(.*)\} (\S+)$", text, re.MULTILINE):
        samples.setdefault(name, []).append((dict(re.findall(r'(\w+)="([^"]*)"', labels)), float(value)))
    return samples


@pytest.mark.ray
@pytest.mark.slow
def test_a_run_is_seen_at_rays_metrics_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_metrics_report_interval_ms", "2000")
    wanted = {exported(name) for name in {*GAUGES, *COUNTERS} - LATER - ELSEWHERE}
    samples: Samples = {}

    def look(_: Mapping[str, float]) -> None:
        samples.update(scrape())
        if wanted <= samples.keys():
            raise KilledError

    with suppress(KilledError):
        new_trainer(tmp_path, ON_RAY, report=look).run()
    assert wanted <= samples.keys()
    parts = {labels["part"] for labels, _ in samples["suphx_waiting_share"]}
    assert parts == {"simulator", "engine", "learner"}
    assert all(0 <= value <= 1 for _, value in samples["suphx_waiting_share"])
    ratios = {labels["quantile"]: value for labels, value in samples["suphx_importance_ratio"]}
    assert ratios["0.05"] <= ratios["0.5"] <= ratios["0.95"] <= ratios["1"]
    ((_, updates),) = samples["suphx_updates_total"]
    assert updates >= 30
    fates = {labels["fate"]: value for labels, value in samples["suphx_buffer_decisions_total"]}
    assert fates["added"] >= fates["learned"] >= 30 * 200


@pytest.mark.ray
@pytest.mark.slow
def test_a_run_is_seen_before_its_first_update_and_after_it_was_asked_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_metrics_report_interval_ms", "2000")
    monkeypatch.setenv(STOP_SECONDS_VARIABLE, "10")
    metrics = RunMetrics(lambda: {"uploads_waiting": 2.0})
    metrics.open(done_share=0.25)  # before this process is connected to Ray
    with ray_session(num_cpus=1):
        wait_for("suphx_done_share", 0.25)
        wait_for("suphx_stopping", 0.0)
        wait_for("suphx_uploads_waiting", 2.0)
        assert "suphx_state_saved_seconds" not in scrape(), "no update yet: nothing would be lost"
        begun = time.time()
        update = Learned(number=1, figures={}, seconds=0.1)
        metrics.count([update])
        wait_for("suphx_updates_total", 1.0)
        first = saved_at()
        assert first >= begun
        metrics.count([update])
        wait_for("suphx_updates_total", 2.0)
        assert saved_at() == first, "another update saves nothing"
        metrics.note_saved(first + 60)
        wait_for("suphx_state_saved_seconds", first + 60)
        metrics.note_stopping()
        metrics.close()
        ((_, is_stopping),) = scrape()["suphx_stopping"]
        assert is_stopping == 1.0


@pytest.mark.ray
@pytest.mark.slow
def test_metrics_are_exported_although_some_cannot_be_had(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("RAY_metrics_report_interval_ms", "2000")
    answers = iter([OSError("no figures"), OSError("no figures")])

    def watch() -> Mapping[str, float]:
        for error in answers:
            raise error
        return {"uploads_waiting": 2.0}

    metrics = RunMetrics(watch)
    with ray_session(num_cpus=1):
        metrics.open(done_share=0.25)
        wait_for("suphx_uploads_waiting", 2.0)
        wait_for("suphx_done_share", 0.25)
        metrics.close()
    assert caplog.messages == ["some metrics are not exported now: OSError('no figures')"]


def test_decisions_that_earlier_processes_have_counted_are_not_added_again(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = RunMetrics()
    added: list[tuple[str, float]] = []

    def add(_: str, number: float, tags: Mapping[str, str]) -> None:
        if number:
            added.append((tags["fate"], number))

    monkeypatch.setattr(metrics, "_add", add)
    metrics.open(done_share=0.5, decisions={"added": 1000, "learned": 900, "refused": 0, "stale": 3, "lost": 0})
    metrics.show({"added_decisions": 1010, "learned_decisions": 900, "stale_decisions": 4})
    metrics.show({"added_decisions": 1010, "learned_decisions": 920, "stale_decisions": 4, "lost_decisions": 7})
    metrics.close()
    assert added == [("added", 10), ("stale", 1), ("learned", 20), ("lost", 7)]


def test_a_resumed_run_tells_its_metrics_what_was_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Mapping[str, float]] = []
    monkeypatch.setattr(RunMetrics, "open", lambda _, *, done_share, decisions: opened.append(decisions))
    monkeypatch.setattr(RunMetrics, "_add", lambda *_: None)
    config = replace(CONFIG, max_updates=3)
    counted = PolicyTrainer(config, new_play(config), tmp_path, metrics=RunMetrics()).run()["decisions_of_buffer"]
    PolicyTrainer(config, new_play(config), tmp_path, metrics=RunMetrics()).run()
    assert counted["learned"] > 0
    assert opened == [{}, counted]


@pytest.mark.parametrize("wrong", ["a minute", "-1", "inf", "nan"])
def test_a_wrong_time_for_the_metrics_of_a_stopped_run_is_an_error_at_its_start(
    monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    monkeypatch.setenv(STOP_SECONDS_VARIABLE, wrong)
    with pytest.raises(ValueError, match=f"SUPHX_STOP_METRICS_SECONDS is '{wrong}': use a number of seconds"):
        RunMetrics()


def saved_at() -> float:
    ((_, seconds),) = scrape()["suphx_state_saved_seconds"]
    return seconds


def wait_for(name: str, value: float) -> None:
    """Return when the metric has the value; fails if it has not after a minute."""
    ends_at = time.monotonic() + 60
    while (seen := [found for _, found in scrape().get(name, [])]) != [value]:
        assert time.monotonic() < ends_at, f"{name} is {seen}, not {value}"
        time.sleep(0.5)
