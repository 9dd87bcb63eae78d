"""Ray's job API, by which KubeRay's operator runs a driver and stops it: it can save first, and its end is kept."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ray.job_submission import JobStatus, JobSubmissionClient

from suphx_pipelines.runs.run_summary import RunSummary
from suphx_platform.cluster.run_attempts import read_attempts
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from tests.free_port import free_port
from tests.repository import REPOSITORY
from tests.suphx_pipelines.runs import attempted_run, stopped_run
from tests.suphx_pipelines.runs.stopped_run import RUN, STATE_FILE, WORKING

pytestmark = [pytest.mark.slow, pytest.mark.ray]

SAVE_SECONDS = 6
"""More than the 3 s after which Ray kills a driver by default."""
STOP_VARIABLE = "RAY_JOB_STOP_WAIT_TIME_S"


@pytest.fixture
def client() -> Iterator[JobSubmissionClient]:
    """Start a head with the variable of the chart's heads; yields its job API."""
    names = ("port", "dashboard-port", "dashboard-agent-listen-port", "ray-client-server-port")
    ports = {name: free_port() for name in names}
    words = [str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", "--num-cpus=1"]
    words += ["--node-ip-address=127.0.0.1", "--object-store-memory=100000000", "--disable-usage-stats"]
    words += [f"--{name}={port}" for name, port in ports.items()]
    with tempfile.TemporaryDirectory(
        prefix="ray", dir="/tmp", ignore_cleanup_errors=True
    ) as folder:  # short for sockets
        command = [*words, f"--temp-dir={folder}"]
        with subprocess.Popen(
            command, env={**os.environ, STOP_VARIABLE: "60", "RAY_AUTH_MODE": "disabled"}, stdout=subprocess.DEVNULL
        ) as head:
            try:
                yield connected(f"http://127.0.0.1:{ports['dashboard-port']}", head)
            finally:
                head.terminate()
                head.wait(timeout=60)


def connected(address: str, head: subprocess.Popen[bytes]) -> JobSubmissionClient:
    found: list[JobSubmissionClient] = []

    def connect() -> bool:
        assert head.poll() is None, "the head has ended"
        try:
            client = JobSubmissionClient(address)
            client.list_jobs()
            found.append(client)
        except (ConnectionError, RuntimeError):
            return False
        return True

    wait_for(connect)
    return found[0]


def wait_for(is_so: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + 240
    while not is_so():
        assert time.monotonic() < ends_at
        time.sleep(0.2)


def test_a_driver_that_needs_longer_than_rays_default_has_saved(client: JobSubmissionClient, tmp_path: Path) -> None:
    command = [sys.executable, "-m", stopped_run.__name__, str(tmp_path), str(SAVE_SECONDS), "saves"]
    job = client.submit_job(entrypoint=f"cd {REPOSITORY} && {shlex.join(command)}")
    wait_for(lambda: WORKING in client.get_job_logs(job))
    assert client.stop_job(job)
    wait_for(lambda: client.get_job_status(job).is_terminal())
    assert client.get_job_status(job) == JobStatus.STOPPED
    assert (tmp_path / RUN / "numbers" / STATE_FILE).read_text() == "step 7"
    summary = RunSummary.read(tmp_path / RUN)
    assert summary is not None
    assert summary.state == "interrupted"


def test_the_end_of_a_driver_is_kept(client: JobSubmissionClient, tmp_path: Path) -> None:
    runs, storage = tmp_path / "runs", StorageConfig(address=str(tmp_path / "storage"))
    command = [sys.executable, "-m", attempted_run.__name__, str(runs), storage.address, RUN, "fails"]
    job = client.submit_job(entrypoint=f"cd {REPOSITORY} && mkdir {runs} && {shlex.join(command)}")
    wait_for(lambda: client.get_job_status(job).is_terminal())
    (attempt,) = read_attempts(Storage(storage), RUN).values()
    assert attempt.outcome == "failed"
    assert attempted_run.REASON in attempt.reason
