from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from suphx.growing_pause import GrowingPause
from suphx.usable_cores import usable_cores
from suphx.worker_interrupt import end_with_parent


@pytest.mark.parametrize(
    ("limit", "cores"),
    [("max 100000", 8), ("150000 100000", 2), ("50000 100000", 1), ("3200000 100000", 8), ("", 8), ("?", 8)],
)
def test_a_containers_limit_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, cores: int) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)))
    (tmp_path / "cpu.max").write_text(f"{limit}\n")
    assert usable_cores(tmp_path / "cpu.max") == cores
    assert usable_cores(tmp_path / "missing") == 8


def test_each_pause_is_twice_as_long_up_to_the_longest() -> None:
    pause = GrowingPause(first=2.0, longest=10.0)
    assert [pause.next() for _ in range(5)] == [2.0, 4.0, 8.0, 10.0, 10.0]


def test_a_success_makes_the_pauses_short_again() -> None:
    pause = GrowingPause(first=1.0, longest=60.0)
    pause.next()
    pause.next()
    pause.reset()
    assert pause.next() == 1.0


# A worker sleeps while it imports this module, or while it works; the signal goes to all processes, as on a terminal.
MODULE = """
import multiprocessing, os, time
from pathlib import Path

def work(place):
    Path(place, "working").touch()
    time.sleep(600)

if multiprocessing.parent_process() is not None:
    Path(os.environ["PLACE"], "importing").touch()
    time.sleep(float(os.environ["IMPORT_SECONDS"]))
"""
POOL = """
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from suphx.worker_interrupt import become_worker, starting_workers

def main():
    from work_module import work
    try:
        with ProcessPoolExecutor(2, get_context("spawn"), initializer=become_worker) as pool:
            with starting_workers():
                answers = [pool.submit(work, os.environ["PLACE"]) for _ in range(2)]
            [answer.result() for answer in answers]
    except KeyboardInterrupt:
        print("stopped")

if __name__ == "__main__":
    main()
"""


def started_pool(folder: Path, import_seconds: str) -> subprocess.Popen[str]:
    """Start a process with two workers that sleep."""
    (folder / "work_module.py").write_text(MODULE, encoding="utf-8")
    (folder / "main.py").write_text(POOL, encoding="utf-8")
    environment = {
        **os.environ,
        "PLACE": str(folder),
        "IMPORT_SECONDS": import_seconds,
        "PYTHONPATH": os.pathsep.join((str(folder), *sys.path)),
    }
    command = [sys.executable, str(folder / "main.py")]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def wait_for(mark: Path, process: subprocess.Popen[str]) -> None:
    """Wait until a worker has made the file ``mark``."""
    while not mark.exists() and process.poll() is None:
        time.sleep(0.01)


@pytest.mark.parametrize(("mark", "seconds"), [("importing", "3"), ("working", "0")])
def test_workers_end_in_silence_wherever_they_are(mark: str, seconds: str, tmp_path: Path) -> None:
    with started_pool(tmp_path, seconds) as process:
        wait_for(tmp_path / mark, process)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert (out, err) == ("stopped\n", "")


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    with started_pool(tmp_path, "0") as process:
        wait_for(tmp_path / "working", process)
        process.kill()
        process.communicate(timeout=300)  # the workers have these pipes too: this returns when all have ended


def test_a_first_process_has_no_parent_to_end_with() -> None:
    with pytest.raises(RuntimeError, match="multiprocessing did not start this process"):
        end_with_parent()
