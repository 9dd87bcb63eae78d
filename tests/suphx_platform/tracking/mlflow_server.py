"""A real MLflow server on loopback for tests."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from tests.free_port import free_port

START_SECONDS = 180


@contextmanager
def mlflow_server(folder: Path) -> Iterator[str]:
    """Run a server, which keeps artifacts itself, as a chart's does, while the block runs; yield its address."""
    url = f"http://127.0.0.1:{(port := free_port())}"
    places = ["--backend-store-uri", f"sqlite:///{folder / 'server.db'}", "--artifacts-destination", str(folder)]
    options = [*places, "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    quiet = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "mlflow", "server", *options], stdout=log, stderr=log, env=os.environ | quiet
        )
    try:
        _wait_for(f"{url}/health", process)
        yield url
    finally:
        process.terminate()
        process.wait()


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    limit = time.monotonic() + START_SECONDS
    while time.monotonic() < limit and process.poll() is None:
        try:
            with urlopen(url, timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.2)
    raise TimeoutError("the server did not start")
