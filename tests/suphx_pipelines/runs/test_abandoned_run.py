"""With a real store, and a process that is killed while it runs."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from suphx_pipelines.runs.run_page import end_abandoned
from suphx_pipelines.runs.run_summary import RunState, RunSummary
from suphx_platform.tracking.tracking import TrackingStore
from tests.suphx_pipelines.runs import small_run


def test_a_killed_process_leaves_a_run_that_is_then_shown_as_killed(runs: Path) -> None:
    done = subprocess.run([sys.executable, "-m", small_run.__name__, str(runs), "powers:middle"], check=False)
    assert done.returncode == -signal.SIGKILL
    store = TrackingStore(runs)
    name = next(path.parent.name for path in runs.glob("*/run.json"))
    assert statuses(store)[name] == "RUNNING"
    assert end_abandoned(runs, store) == [name]
    assert statuses(store) == {name: "KILLED", "numbers": "FINISHED", "powers": "KILLED"}
    run = store.find(name)
    assert run is not None
    assert run.data.tags["mlflow.note.content"].startswith("**Stopped.** 1 of 3 stages are finished.")
    assert end_abandoned(runs, store) == []
    small_run.small_runner(runs).run()
    assert set(statuses(store).values()) == {"FINISHED"}
    (stage,) = store.client.search_runs([store.experiment_id()], "attributes.run_name = 'powers'")
    powers = store.client.get_metric_history(stage.info.run_id, "power")
    assert [point.step for point in powers] == [0, 1, 2, 3], "what both processes logged is there once"


def test_a_damaged_run_does_not_keep_the_others_from_being_shown(runs: Path) -> None:
    store = TrackingStore(runs)
    for name in ("broken-1", "killed-1"):
        store.begin(name, key=name, tags={}, params={})
        (runs / name).mkdir()
        (runs / name / "lock").touch()
    (runs / "broken-1" / "run.json").write_text("[")
    assert sorted(end_abandoned(runs, store)) == ["broken-1", "killed-1"]
    assert set(statuses(store).values()) == {"KILLED"}


@pytest.mark.parametrize(("state", "status"), [("finished", "FINISHED"), ("failed", "FAILED")])
def test_a_run_that_had_ended_when_it_was_killed_keeps_its_end(runs: Path, state: RunState, status: str) -> None:
    subprocess.run([sys.executable, "-m", small_run.__name__, str(runs), "powers:middle"], check=False)
    (folder,) = (path.parent for path in runs.glob("*/run.json"))
    summary = RunSummary.read(folder)
    assert summary is not None
    summary.state, summary.error = state, "the disk is full" if state == "failed" else ""
    summary.write(folder)
    store = TrackingStore(runs)
    assert end_abandoned(runs, store) == [folder.name]
    run = store.find(folder.name)
    assert run is not None
    assert run.info.status == status
    assert not run.data.tags["mlflow.note.content"].startswith("**Stopped.**")


def test_a_run_with_a_process_or_without_a_folder_stays_as_it_is(runs: Path) -> None:
    store = TrackingStore(runs)
    for name in ("elsewhere-1", "working-1"):
        store.start(name, key=name)
    store.close()
    (runs / "working-1").mkdir()
    (runs / "working-1" / "lock").touch()
    holder = "import sys; from pathlib import Path; from suphx_pipelines.runs.run_lock import locked\n"
    holder += "with locked(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(runs / "working-1")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        assert end_abandoned(runs, store) == []
        process.kill()
    assert end_abandoned(runs, store) == ["working-1"]
    assert statuses(store) == {"elsewhere-1": "RUNNING", "working-1": "KILLED"}


def statuses(store: TrackingStore) -> dict[str, str]:
    found = store.client.search_runs([store.experiment_id()])
    return {run.info.run_name: run.info.status for run in found}
