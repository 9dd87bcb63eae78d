from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

# A worker sleeps while it imports this module, or while it works; the signal goes to all processes, as on a terminal.
MODULE = """
import multiprocessing, os, time
from pathlib import Path

def work(place):
    Path(place, "working").touch()
    time.sleep(60)

if multiprocessing.parent_process() is not None:
    Path(os.environ["PLACE"], "importing").touch()
    time.sleep(float(os.environ["IMPORT_SECONDS"]))
"""
POOL = """
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from suphx.worker_interrupt import end_at_interrupt, starting_workers

def main():
    from work_module import work
    try:
        with ProcessPoolExecutor(2, get_context("spawn"), initializer=end_at_interrupt) as pool:
            with starting_workers():
                answers = [pool.submit(work, os.environ["PLACE"]) for _ in range(2)]
            [answer.result() for answer in answers]
    except KeyboardInterrupt:
        print("stopped")

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(("mark", "seconds"), [("importing", "3"), ("working", "0")])
def test_workers_end_in_silence_wherever_they_are(mark: str, seconds: str, tmp_path: Path) -> None:
    (tmp_path / "work_module.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "main.py").write_text(POOL, encoding="utf-8")
    environment = {
        **os.environ,
        "PLACE": str(tmp_path),
        "IMPORT_SECONDS": seconds,
        "PYTHONPATH": os.pathsep.join((str(tmp_path), *sys.path)),
    }
    command = [sys.executable, str(tmp_path / "main.py")]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        while not (tmp_path / mark).exists() and process.poll() is None:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert (out, err) == ("stopped\n", "")
