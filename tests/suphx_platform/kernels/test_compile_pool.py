from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_REPORTERS = """
import os
from suphx_platform.kernels.compile_pool import send
names = "abcd"
for name in names:
    if os.fork() == 0:
        for number in range(300):
            send("compiled", name, number)
        os._exit(0)
for _ in names:
    os.wait()
"""


def test_events_of_several_processes_are_a_line_each() -> None:
    done = subprocess.run([sys.executable, "-c", _REPORTERS], stdout=subprocess.PIPE, check=True, text=True)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(events) == 4 * 300
    assert sorted(event["seconds"] for event in events if event["name"] == "a") == list(range(300))


@contextmanager
def pool_at_work(cache: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A pool with an empty cache and the ids of its workers, one of which compiles its first kernel."""
    command = [sys.executable, "-m", "suphx_platform.kernels.compile_pool", "engine"]
    environment = {**os.environ, "SUPHX_CACHE": str(cache)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, text=True, stdin=pipe, stdout=pipe, stderr=pipe) as pool:
        assert pool.stdout is not None
        assert json.loads(pool.stdout.readline())["event"] == "begins"
        workers = Path(f"/proc/{pool.pid}/task/{pool.pid}/children").read_text().split()
        yield pool, [int(worker) for worker in workers]


def test_the_pool_and_its_workers_end_when_its_stdin_is_closed(tmp_path: Path) -> None:
    with pool_at_work(tmp_path) as (pool, workers):
        assert workers
        _, messages = pool.communicate(timeout=300)  # to the end of the workers, which write there too
        assert pool.returncode == 1
        assert messages == ""
        assert not [worker for worker in workers if Path(f"/proc/{worker}").exists()]


def test_workers_end_when_their_pool_is_killed(tmp_path: Path) -> None:
    with pool_at_work(tmp_path) as (pool, workers):
        assert workers
        pool.kill()
        assert pool.stdout is not None
        pool.stdout.read()  # to the end of the workers


def test_a_killed_worker_is_an_error_that_names_its_group(tmp_path: Path) -> None:
    with pool_at_work(tmp_path) as (pool, workers):
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        assert pool.wait(300) == 1
        assert pool.stderr is not None
        assert pool.stderr.read() == "the process that compiled the kernels of engine ended with SIGKILL\n"
