from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from suphx_platform.cluster.driver_end import drivers, end_driver

DRIVER = """
import signal, sys, time
from pathlib import Path

def save(number, frame):
    time.sleep(0.5)
    Path(sys.argv[-1]).write_text("saved")
    sys.exit(1)

signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
time.sleep(600)
"""


@pytest.fixture
def run(tmp_path: Path) -> str:
    """An id that no other run has."""
    return f"of-{tmp_path.name.replace('_', '-')}-{id(tmp_path)}"


@pytest.fixture
def driver(tmp_path: Path, run: str) -> Iterator[subprocess.Popen[str]]:
    program = tmp_path / "suphx"
    program.write_text(DRIVER)
    command = [sys.executable, str(program), "run", "recipe.toml", "--run-id", run, str(tmp_path / "state")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


def test_the_driver_has_saved_when_the_pod_may_end(driver: subprocess.Popen[str], run: str, tmp_path: Path) -> None:
    assert [process.pid for process in drivers(run)] == [driver.pid]
    subprocess.run([sys.executable, "-m", "suphx_platform.cluster.driver_end", run], check=True, timeout=300)
    assert (tmp_path / "state").read_text() == "saved"
    assert list(drivers(run)) == []


def test_other_runs_are_left_alone(driver: subprocess.Popen[str], run: str) -> None:
    end_driver(f"{run}-other")
    assert [process.pid for process in drivers(run)] == [driver.pid]
