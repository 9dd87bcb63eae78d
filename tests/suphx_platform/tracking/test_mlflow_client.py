"""Against servers that are not there, or are silent; and a new database."""

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


@pytest.fixture(autouse=True)
def _without_own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (TIMEOUT, RETRIES):
        monkeypatch.delenv(name, raising=False)


def test_a_server_that_is_not_there_is_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # nothing listens, and nobody else can
        address = f"http://127.0.0.1:{closed.getsockname()[1]}"
        monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
        with pytest.raises(TrackingError) as caught:
            TrackingStore(tmp_path / "runs").reach()
    assert f"MLflow at {address} does not answer (connection refused): check that" in str(caught.value)
    assert f"{TIMEOUT} (now 4 s) or {RETRIES} (now 1)" in str(caught.value), "MLflow itself retries for minutes"
    assert not (tmp_path / "runs").exists()
    assert TIMEOUT not in os.environ


def test_a_silent_server_is_waited_for_as_long_as_the_user_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TIMEOUT, "1")
    monkeypatch.setenv(RETRIES, "0")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(TrackingError, match=rf"no answer in 1 s\).*{TIMEOUT} \(now 1 s\) or {RETRIES} \(now 0\)"):
            TrackingStore(tmp_path / "runs").reach()


@pytest.mark.parametrize(
    "address", ["http://me:se/cret@host", "HTTPS://me:se?cret@host", "postgresql://me:se/cret@host/runs"]
)
def test_an_address_whose_password_cannot_be_told_from_its_path_is_refused_without_being_shown(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    with pytest.raises(ValueError, match=r"^MLFLOW_TRACKING_URI has an @ behind its host.*_USERNAME.*%40$") as refused:
        TrackingStore(tmp_path / "runs")
    assert "cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("status", "away"),
    [
        (413, ""),
        (400, ""),
        (301, "redirects to another"),
        (404, "answers with status 404"),
        (500, "answers with status 500"),
        (503, "does not answer"),
    ],
)
def test_a_proxy_that_refuses_is_told_from_a_server_that_is_away(
    status: int, away: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TIMEOUT, "5")
    monkeypatch.setenv(RETRIES, "0")
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{proxy.getsockname()[1]}")
        thread = threading.Thread(target=answer_once, args=(proxy, status))
        thread.start()
        error, text = (TrackingError, away) if away else (MlflowException, str(status))
        with pytest.raises(error, match=text):
            TrackingStore(tmp_path / "runs").reach()
        thread.join()


def answer_once(proxy: socket.socket, status: int) -> None:
    """Answer a request as a proxy does: in HTML."""
    connection, _ = proxy.accept()
    with suppress(OSError), connection:
        connection.recv(1 << 16)
        head = f"HTTP/1.1 {status} No\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 6\r\nConnection: close"
        connection.sendall(f"{head}\r\n\r\n<html>".encode())


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


def test_a_database_that_is_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "mlflow.db"
    path.write_bytes(b"")
    make_database(path)
    assert path.read_bytes() == b""
