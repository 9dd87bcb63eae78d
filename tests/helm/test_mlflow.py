"""The MLflow server as the chart starts it: its command is run here, with its folder and port in other places."""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.free_port import free_port
from tests.helm.everything import EVERYTHING, Render, find

SEARCH = "/api/2.0/mlflow/experiments/search?max_results=5"
SERVICE = "suphx-mlflow.mahjong.svc:5000"


def container(render: Render, values: dict[str, Any]) -> dict[str, Any]:
    spec = find(render(values), "Deployment", "suphx-mlflow")["spec"]["template"]["spec"]
    found: dict[str, Any] = spec["containers"][0]
    return found


def options(server: dict[str, Any]) -> dict[str, str]:
    assert server["command"][:2] == ["mlflow", "server"]
    return dict(option.removeprefix("--").split("=", 1) for option in server["command"][2:])


def test_database_artifacts_and_hosts_are_those_of_the_values(render: Render) -> None:
    given = options(container(render, EVERYTHING))
    assert given["backend-store-uri"] == "postgresql://postgres/mlflow"
    assert given["artifacts-destination"] == "s3://bucket/artifacts"
    assert {SERVICE, "suphx-mlflow:5000", "mlflow.example.org:443"} <= set(given["allowed-hosts"].split(","))
    assert given["app-name"] == "basic-auth"


def test_runs_are_given_the_address_that_the_server_answers_to(render: Render) -> None:
    job = find(render(EVERYTHING), "RayJob", "first")["spec"]["rayClusterSpec"]
    environment = job["headGroupSpec"]["template"]["spec"]["containers"][0]["env"]
    addresses = [variable["value"] for variable in environment if variable["name"] == "MLFLOW_TRACKING_URI"]
    assert addresses == [f"http://{SERVICE}"]


def test_without_a_database_all_is_on_the_volume(render: Render) -> None:
    server = container(render, {"mlflow": {"enabled": True}})
    given = options(server)
    assert given["backend-store-uri"] == "sqlite:////data/mlflow.db"
    assert given["artifacts-destination"] == "/data/artifacts"
    assert {"name": "data", "mountPath": "/data"} in server["volumeMounts"]
    assert "app-name" not in given


@contextmanager
def started(server: dict[str, Any], folder: Path, environment: Mapping[str, str]) -> Iterator[int]:
    """Run the server's command on loopback while the block runs; its volume is ``folder``. Yields the port."""
    port = free_port()
    changed = {"host": "127.0.0.1", "port": str(port), "workers": "1"}
    parts = {**options(server), **changed}
    command = [f"--{name}={value.replace('/data', str(folder))}" for name, value in parts.items()]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "mlflow", "server", *command],
            env={**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true", **environment},
            cwd=folder,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        await_health(process, port, folder / "server.log")
        yield port
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 15)
        process.wait()


def await_health(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Return when the probe of the deployment would succeed; the kubelet calls a pod by its address."""
    deadline = time.monotonic() + 600
    while ask(port, "/health", host="10.0.0.7:5000")[0] != 200:
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"MLflow does not start:\n{log.read_text(encoding='utf-8')[-3000:]}")
        time.sleep(0.3)


def ask(port: int, path: str, *, host: str, user: str = "") -> tuple[int, str]:
    """Return status and body; status 0 if nobody listens."""
    headers = {"Host": host}
    if user:
        headers["Authorization"] = "Basic " + base64.b64encode(user.encode()).decode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except OSError:
        return 0, ""


@pytest.mark.slow
def test_the_server_answers_to_its_own_names_only(render: Render, tmp_path: Path) -> None:
    with started(container(render, {"mlflow": {"enabled": True}}), tmp_path, {}) as port:
        status, body = ask(port, SEARCH, host=SERVICE)
        assert (status, json.loads(body)["experiments"][0]["name"]) == (200, "Default")
        assert ask(port, SEARCH, host="evil.example.org")[0] == 403
    assert (tmp_path / "mlflow.db").is_file()


@pytest.mark.slow
def test_the_server_asks_for_passwords_if_a_secret_is_named(render: Render, tmp_path: Path) -> None:
    if importlib.util.find_spec("flask_wtf") is None:
        pytest.skip("flask_wtf is not installed: make setup")
    values = {
        "mlflow": {"enabled": True, "authSecretName": "admin"},
        "tracking": {"secretName": "user"},
    }
    written = find(render(values), "ConfigMap", "suphx-mlflow-auth")["data"]["basic_auth.ini"]
    (tmp_path / "basic_auth.ini").write_text(written.replace("/data", str(tmp_path)), encoding="utf-8")
    server = container(render, values)
    secret = {
        "MLFLOW_AUTH_ADMIN_USERNAME": "admin",
        "MLFLOW_AUTH_ADMIN_PASSWORD": "a-long-password",
        "MLFLOW_FLASK_SERVER_SECRET_KEY": "a-key",
    }
    assert secret.keys() <= {variable["name"] for variable in server["env"]}
    environment = {**secret, "MLFLOW_AUTH_CONFIG_PATH": str(tmp_path / "basic_auth.ini")}
    with started(server, tmp_path, environment) as port:
        assert ask(port, SEARCH, host=SERVICE)[0] == 401
        assert ask(port, SEARCH, host=SERVICE, user="admin:wrong")[0] == 401
        assert ask(port, SEARCH, host=SERVICE, user="admin:a-long-password")[0] == 200
