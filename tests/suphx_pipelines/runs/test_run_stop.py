"""Runs of other processes are stopped by the lock that they hold: real processes, real runs, the hook of head pods."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from suphx_cli import cli
from suphx_pipelines.runs.pre_stop import stop_held_runs
from suphx_pipelines.runs.run_list import held_runs, stop_run
from suphx_pipelines.runs.run_summary import RunState
from suphx_platform.cluster.run_attempts import read_report
from tests.suphx_pipelines.runs import stopped_run
from tests.suphx_pipelines.runs.run_folder import running, write_run
from tests.suphx_pipelines.runs.stopped_run import RUN, STATE_FILE, WORKING

Process = subprocess.Popen[str]


@contextmanager
def at_work(runs: Path, *, how: str = "saves", save_seconds: int = 0) -> Iterator[Process]:
    """Have another process work on the run RUN until it is asked to stop."""
    command = [sys.executable, "-m", stopped_run.__name__, str(runs), str(save_seconds), how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert WORKING in iter(lambda: process.stdout.readline().strip() if process.stdout else "", "")
        try:
            yield process
        finally:
            process.kill()


def pod_with(report: Path) -> dict[str, object]:
    """A pod whose container has written a termination message, as its status shows it."""
    terminated = {"exitCode": 0, "message": report.read_text()}
    return {"status": {"containerStatuses": [{"name": "ray-head", "state": {"terminated": terminated}}]}}


def test_the_hook_of_a_head_has_its_driver_save_and_reports_it(runs: Path) -> None:
    report = runs / "termination-log"
    with at_work(runs, save_seconds=2) as process:
        assert held_runs(runs) == [runs / RUN]
        process.send_signal(signal.SIGTERM)  # Ray's job API asks too
        stop_held_runs(runs, seconds=60, report=report)
        assert process.wait(timeout=60) == 130
    assert (runs / RUN / "numbers" / STATE_FILE).read_text() == "step 7"
    assert read_report(pod_with(report)) == {RUN: "saved"}
    assert held_runs(runs) == []


def test_a_run_of_another_user_is_named(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(process: int, number: int) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    folder = write_run(runs, "theirs-1", state="running")
    with running(folder) as process, monkeypatch.context() as patch:
        patch.setattr(os, "kill", refuse)
        with pytest.raises(ValueError, match=f"theirs-1 is run by process {process} of another user: stop it as that"):
            stop_run(folder, seconds=60)


def test_a_driver_that_cannot_save_has_failed(runs: Path) -> None:
    with at_work(runs, how="fails"):
        assert stop_run(runs / RUN, seconds=60) == "failed"
    assert stop_run(runs / RUN, seconds=60) is None  # nobody works on it


def test_a_process_that_ends_without_a_word_was_killed(runs: Path) -> None:
    folder = write_run(runs, "killed", state="running")
    with running(folder):  # a process without a handler of SIGTERM
        write_run(runs, "killed", state="running")
        assert stop_run(folder, seconds=60) == "killed"


@pytest.mark.parametrize("state", ["failed", "finished", "interrupted", "running"])
def test_how_an_earlier_command_ended_says_nothing_of_one_that_has_not_begun(runs: Path, state: RunState) -> None:
    folder = write_run(runs, "waits", state=state)
    with running(folder, ignores=[signal.SIGTERM]) as process:
        assert stop_run(folder, seconds=0.2) == "unsaved"
        os.kill(process, signal.SIGKILL)
    with running(folder):
        assert stop_run(folder, seconds=60) == "saved"


def test_a_process_that_takes_too_long_goes_on(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_run(runs, "slow", state="running")
    with running(folder, ignores=[signal.SIGTERM]) as process:
        assert stop_run(folder, seconds=0.2) == "unsaved"
        assert cli.main(["runs", "stop", "slow", "--runs", str(runs), "--wait", "0.2"]) == 1
        assert "slow is still saving: repeat the command to wait longer" in capsys.readouterr().err
        os.kill(process, signal.SIGKILL)


def test_a_process_that_has_saved_and_takes_long_to_end_has_saved(runs: Path) -> None:
    """It may still be sending messages to MLflow."""
    folder = write_run(runs, "slow", state="running")
    with running(folder, ignores=[signal.SIGTERM]) as process:
        write_run(runs, "slow", state="interrupted")
        assert stop_run(folder, seconds=0.2) == "saved"
        os.kill(process, signal.SIGKILL)


def test_a_run_of_this_machine_is_stopped_by_a_command(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = ["--runs", str(runs)]
    with at_work(runs):
        assert cli.main(["runs", "stop", RUN, *place]) == 0
        assert f"{RUN} is stopped and saved" in capsys.readouterr().out
    assert cli.main(["runs", "stop", RUN, *place, "--json"]) == 0  # again
    assert json.loads(capsys.readouterr().out) == {"run_id": RUN, "state": "interrupted", "outcome": None}
    assert cli.main(["runs", "stop", RUN, *place]) == 0
    assert f"{RUN} does not run, it is interrupted" in capsys.readouterr().out
