"""MLflow's user interface over the runs of this machine, and links into it."""

from __future__ import annotations

import difflib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from suphx_platform.tracking.mlflow_client import QUIET, SERVER
from suphx_platform.tracking.mlflow_store import VIEW, MlflowStore
from suphx_platform.tracking.tracking import TrackingStore

_START_SECONDS = 180
_POLL_SECONDS = 0.1
_PAGES = "?workflowType=machine_learning"
"""MLflow's pages for training and models; the others are for generative applications."""


@contextmanager
def serve_ui(folder: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run MLflow's user interface over the store of ``folder`` on 127.0.0.1 while the block runs.

    Raises ValueError if the folder has no store, or if MLFLOW_TRACKING_URI names another one.
    """
    store = MlflowStore(folder)
    check_own(store)
    if not store.is_there:
        raise ValueError(f"{folder} has no mlflow.db: choose your folder of runs with --runs, or run a recipe first")
    options = ["--backend-store-uri", store.uri, "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    options += ["--registry-store-uri", store.uri, "--uvicorn-opts", "--log-level=warning"]  # no line for a request
    command = [sys.executable, "-m", "mlflow", "ui", *options]
    # In its own session: Ctrl-C reaches only this process, which then ends the server without tracebacks.
    environment = {"PYTHONWARNINGS": "ignore", "MLFLOW_LOGGING_LEVEL": "WARNING", **os.environ, **QUIET}
    process = subprocess.Popen(command, env=environment, start_new_session=True)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):  # it may have ended by itself
            os.killpg(process.pid, signal.SIGTERM)  # its worker processes too
        process.wait()


def check_own(store: MlflowStore) -> None:
    """Raise ValueError if MLFLOW_TRACKING_URI names the store, so that it is not the folder's own."""
    if store.is_server:
        raise ValueError(
            f"{SERVER} is set to {store.uri}: open that address, or unset it to see the runs of {store.folder}"
        )
    if store.is_elsewhere:
        raise ValueError(
            f"{SERVER} is set to {store.uri}, which is not a server (http:// or https://): unset it and use `suphx ui "
            f"--runs DIR`, or show that store with `mlflow ui --backend-store-uri {store.uri}`"
        )


def wait_for_ui(process: subprocess.Popen[bytes], port: int) -> None:
    """Return when the server answers; ChildProcessError if it ends before, TimeoutError after three minutes."""
    opener = build_opener(ProxyHandler({}))
    limit = time.monotonic() + _START_SECONDS
    while time.monotonic() < limit:
        if (exit_code := process.poll()) is not None:
            raise ChildProcessError(f"MLflow's server ended with exit code {exit_code}: its error is printed above")
        try:
            with opener.open(f"http://127.0.0.1:{port}/health", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(_POLL_SECONDS)
    raise TimeoutError(f"MLflow's server did not answer on port {port} within {_START_SECONDS} s: start it again")


def known_address(store: TrackingStore, key: str) -> str:
    """Return the address of the page of a run that was started; empty if no server has it, or none has answered yet."""
    run_id = store.run_ids.get(key)
    if run_id is None or not store.is_server:
        return ""
    return f"{_runs_address(store, store.uri)}/{run_id}{_PAGES}"


def page_address(store: MlflowStore, server: str, run_id: str | None = None) -> str:
    """Return the address, below that of a ``server``, of the list of runs or of the run ``run_id``.

    ValueError if there is no such run, TrackingError if MLflow does not answer.
    """
    runs = _runs_address(store, server)
    if run_id is None:
        return f"{runs}{_PAGES}&viewStateShareKey={VIEW}"
    run = store.find(run_id)
    if run is None:
        close = difflib.get_close_matches(run_id, store.names(), n=3, cutoff=0.4)
        advice = f"did you mean {' or '.join(close)}?" if close else "its name is the name of its folder"
        raise ValueError(f"no run {run_id!r} in MLflow ({store.uri}): {advice}")
    return f"{runs}/{run.info.run_id}{_PAGES}"


def artifact_pages(store: MlflowStore, prefix: str, name: str) -> dict[str, str]:
    """Return key -> address, below that of any server, of the page of the artifact ``name``, for the runs of a prefix.

    MLflow's pages may link to such an address, also where the server is known under several names. TrackingError if
    MLflow does not answer.
    """
    runs = _runs_address(store, "").lstrip("/")
    return {key: f"{runs}/{run_id}/artifacts/{name}{_PAGES}" for key, run_id in store.ids_of(prefix).items()}


def _runs_address(store: MlflowStore, server: str) -> str:
    return f"{server.rstrip('/')}/#/experiments/{store.experiment_id()}/runs"
