"""Against servers that are not there, are silent or refuse; and a new database."""

from __future__ import annotations

import os
import socket
import threading
from contextlib import suppress
from pathlib import Path

import alembic.command
import pytest
from mlflow.exceptions import MlflowException

from suphx_platform.tracking.mlflow_client import TrackingError, make_database
from suphx_platform.tracking.mlflow_store import MlflowStore
from suphx_platform.tracking.tracking import TrackingStore

TIMEOUT, RETRIES = "MLFLOW_HTTP_REQUEST_TIMEOUT", "MLFLOW_HTTP_REQUEST_MAX_RETRIES"


def reach(server: socket.socket, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *limits: str) -> None:
    """Reach MLflow at the address of ``server``; ``limits``: seconds and retries that the user has set."""
    for name, value in zip((TIMEOUT, RETRIES), limits or (None, None), strict=True):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{server.getsockname()[1]}")
    TrackingStore(tmp_path / "runs").reach()


def test_a_server_that_is_not_there_is_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # nothing listens, and nobody else can
        with pytest.raises(TrackingError) as caught:
            reach(closed, monkeypatch, tmp_path)
        address = f"http://127.0.0.1:{closed.getsockname()[1]}"
    assert f"MLflow at {address} does not answer (connection refused): check that" in str(caught.value)
    assert f"{TIMEOUT} (now 4 s) or {RETRIES} (now 1)" in str(caught.value), "MLflow itself retries for minutes"
    assert not (tmp_path / "runs").exists()
    assert TIMEOUT not in os.environ


def test_a_silent_server_is_waited_for_as_long_as_the_user_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = rf"no answer in 1 s\).*{TIMEOUT} \(now 1 s\) or {RETRIES} \(now 0\)"
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(TrackingError, match=waited):
        reach(silent, monkeypatch, tmp_path, "1", "0")


@pytest.mark.parametrize(
    "address", ["http://me:se/cret@host", "HTTPS://me:se?cret@host", "postgresql://me:se/cret@host/runs"]
)
def test_an_address_with_an_unclear_password_is_refused_without_being_shown(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    with pytest.raises(ValueError, match=r"^MLFLOW_TRACKING_URI has an @ behind its host.*_USERNAME.*%40$") as refused:
        TrackingStore(tmp_path / "runs")
    assert "cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("status", "error", "text"),
    [
        (413, MlflowException, "413"),
        (400, MlflowException, "400"),
        (301, TrackingError, "redirects to another"),
        (404, TrackingError, "answers with status 404"),
        (500, TrackingError, "answers with status 500"),
        (503, TrackingError, "does not answer"),
    ],
)
def test_a_proxy_that_refuses_is_told_from_a_server_that_is_unavailable(
    status: int, error: type[Exception], text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer_in_html() -> None:
        connection, _ = proxy.accept()
        with suppress(OSError), connection:
            connection.recv(1 << 16)
            head = f"HTTP/1.1 {status} No\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 6\r\nConnection: close"
            connection.sendall(f"{head}\r\n\r\n<html>".encode())

    with socket.create_server(("127.0.0.1", 0)) as proxy:
        thread = threading.Thread(target=answer_in_html)
        thread.start()
        with pytest.raises(error, match=text):
            reach(proxy, monkeypatch, tmp_path, "5", "0")
        thread.join()


def test_a_start_that_is_stopped_leaves_no_half_of_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(alembic.command, "upgrade", stop)  # after the tables, before their version is written
        with pytest.raises(KeyboardInterrupt):
            MlflowStore(tmp_path).reach()
    assert list(tmp_path.iterdir()) == []
    MlflowStore(tmp_path).reach()
    assert [path.name for path in tmp_path.iterdir()] == ["mlflow.db"]
    (tmp_path / "mlflow.db").write_bytes(b"")
    make_database(tmp_path / "mlflow.db")
    assert (tmp_path / "mlflow.db").read_bytes() == b"", "what is there stays"
