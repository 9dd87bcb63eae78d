from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from suphx_platform.console.stop_file import STORED, StopFile
from tests.repository import REPOSITORY


def test_a_file_that_appears_interrupts_the_work(tmp_path: Path) -> None:
    sign = StopFile(tmp_path / "stop")

    def work() -> None:
        with sign:
            (tmp_path / "stop").touch()
            time.sleep(30)

    handler = signal.signal(signal.SIGTERM, signal.default_int_handler)  # as the command line does
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        signal.signal(signal.SIGTERM, handler)
    assert sign.is_there
    (tmp_path / "stop").unlink()
    sign.wait_gone()


def test_without_a_file_nobody_is_interrupted() -> None:
    with StopFile(None) as sign:
        assert not sign.is_there


@pytest.mark.slow
def test_a_run_saves_waits_and_goes_on_when_the_file_is_gone(tmp_path: Path) -> None:
    stop, log = tmp_path / "stop", tmp_path / "log"
    settings = {
        "reinforcement.max_updates": "8",
        "reinforcement.save_seconds": "0",
        "reinforcement.simulator.num_tables": "16",
        "reinforcement.buffer.batch_size": "256",
        "reinforcement.evaluate_every": "0",
        "reinforcement.evaluation_hanchans": "8",
        "reinforcement.evaluation_deals": "0",
        "reinforcement.final_hanchans": "0",
        "reinforcement.report_every": "1",
    }
    command = [sys.executable, "-m", "suphx_cli.cli", "run", "pipelines/recipes/reinforcement.toml"]
    command += ["--runs", str(tmp_path / "runs"), "--run-id", "asked", "--stop-file", str(stop)]
    command += [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    state = tmp_path / "runs" / "asked" / "reinforcement" / "reinforcement_state.safetensors"
    with log.open("w") as file:
        process = subprocess.Popen(command, stderr=file, stdout=file, cwd=REPOSITORY)
    try:
        wait_for(state.is_file, log, process)
        stop.touch()
        wait_for(lambda: STORED in log.read_text(), log, process)
        stop.unlink()
        assert process.wait(timeout=300) == 0
    finally:
        process.kill()
        process.wait()
    assert log.read_text().count(STORED) == 1
    assert "stopping: saving the state" in log.read_text()
    assert "reinforcement: finished" in log.read_text()


def wait_for(is_so: Callable[[], bool], log: Path, process: subprocess.Popen[bytes]) -> None:
    ends_at = time.monotonic() + 240
    while not is_so():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < ends_at, log.read_text()
        time.sleep(0.05)
