"""MLflow's user interface over the runs of this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from suphx_platform.mlflow_call import quiet_environment
from suphx_platform.tracking import SERVER, TrackingStore


@contextmanager
def serve_ui(folder: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run MLflow's user interface over the store of ``folder`` on loopback while the block runs.

    Raises ValueError if the folder has no store, or runs are on a server, which has its own interface.
    """
    store = TrackingStore(folder)
    if not store.uri.startswith("sqlite:"):
        raise ValueError(f"{SERVER} names {store.uri}: open that address, or unset it to see the runs of {folder}")
    if not store.is_there:
        raise ValueError(f"{folder} has no mlflow.db: name the folder of your runs (--runs), or run a recipe first")
    options = ["--backend-store-uri", store.uri, "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    command = [sys.executable, "-m", "mlflow", "ui", *options]
    # A session of its own: Ctrl-C is for us, the server is then asked to end and does so without tracebacks.
    process = subprocess.Popen(command, env=quiet_environment(), start_new_session=True)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):  # it may have ended by itself
            os.killpg(process.pid, signal.SIGTERM)  # its helpers too
        process.wait()
