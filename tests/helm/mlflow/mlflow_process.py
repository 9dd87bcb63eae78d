"""The MLflow server as the chart starts it: its command is run here, with its folders and port in other places."""

from __future__ import annotations

import base64
import contextlib
import os
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.free_port import free_port
from tests.helm.everything import Render, find

SECRETS = {
    "admin": {
        "MLFLOW_AUTH_ADMIN_USERNAME": "admin",
        "MLFLOW_AUTH_ADMIN_PASSWORD": "a-long-password",
        "MLFLOW_FLASK_SERVER_SECRET_KEY": "a-key",
    },
    "runs": {"MLFLOW_TRACKING_USERNAME": "runs", "MLFLOW_TRACKING_PASSWORD": "password-of-runs"},
    "tournament": {"MLFLOW_TRACKING_USERNAME": "tournament", "MLFLOW_TRACKING_PASSWORD": "password-of-the-tournament"},
}
"""What is in the secrets that ``VALUES`` name."""
VALUES: dict[str, Any] = {
    "mlflow": {"enabled": True, "authSecretName": "admin"},
    "tracking": {"secretName": "runs"},
    "storage": {"address": "s3://bucket/runs"},
    "nightly": {"enabled": True, "recipe": 'name = "nightly"\n', "trackingSecretName": "tournament"},
    "run": {"name": "first", "recipe": 'name = "first"\n'},
}
SEARCH = "/api/2.0/mlflow/experiments/search?max_results=5"
SERVICE = "suphx-mlflow.mahjong.svc:5000"


def server_pod(render: Render, values: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = find(render(values), "Deployment", "suphx-mlflow")["spec"]["template"]
    return found


def options(container: dict[str, Any]) -> dict[str, str]:
    assert container["args"][:2] == ["mlflow", "server"]
    return dict(option.removeprefix("--").split("=", 1) for option in container["args"][2:])


def environment(container: dict[str, Any], secrets: Mapping[str, Mapping[str, str]] = SECRETS) -> dict[str, str]:
    """Return the variables of a container, with those of secrets, without those that only a pod has."""
    found = {}
    for one in container["env"]:
        source = one.get("valueFrom", {})
        if "fieldRef" in source:
            continue  # only a cluster knows it
        reference = source.get("secretKeyRef")
        found[one["name"]] = one["value"] if reference is None else secrets[reference["name"]][reference["key"]]
    return found


@contextmanager
def started(pod: dict[str, Any], folder: Path) -> Iterator[int]:
    """Run the server of a pod on loopback while the block runs; its folders are ``folder``. Yields the port."""
    port, (server,) = free_port(), pod["spec"]["containers"]
    (folder / "basic_auth.ini").write_text(
        pod["metadata"]["annotations"]["suphx/basic-auth"].replace("/data", str(folder)), encoding="utf-8"
    )
    hosts = f"{options(server)['allowed-hosts']},127.0.0.1:{port}"
    changed = {"host": "127.0.0.1", "port": str(port), "workers": "1", "allowed-hosts": hosts}
    parts = {name: value.replace("/tls/", f"{folder}/") for name, value in {**options(server), **changed}.items()}
    command = [f"--{name}={value.replace('/data', str(folder))}" for name, value in parts.items()]
    own = {**environment(server), "MLFLOW_AUTH_CONFIG_PATH": str(folder / "basic_auth.ini"), "HOME": str(folder)}
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "mlflow", "server", *command],
            env={**os.environ, **own},
            cwd=folder,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    authority = folder / "ca.crt" if "uvicorn-opts" in parts else None
    try:
        _await_health(process, port, folder / "server.log", authority)
        yield port
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 15)
        process.wait()


def _await_health(process: subprocess.Popen[bytes], port: int, log: Path, authority: Path | None) -> None:
    """Return when the probe of the deployment would succeed; the kubelet calls a pod by its address."""
    deadline = time.monotonic() + 600
    while ask(port, "/health", host="10.0.0.7:5000", authority=authority)[0] != 200:
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"MLflow does not start:\n{log.read_text(encoding='utf-8')[-3000:]}")
        time.sleep(0.3)


def ask(
    port: int, path: str, *, host: str, user: str = "", origin: str = "", authority: Path | None = None
) -> tuple[int, str]:
    """Return status and body; status 0 if nobody listens. ``origin``: send a POST as a page of that origin does.

    ``authority``: speak HTTPS, with the certificate of this authority.
    """
    headers = {"Host": host}
    if user:
        headers["Authorization"] = "Basic " + base64.b64encode(user.encode()).decode()
    if origin:
        headers |= {"Origin": origin, "Content-Type": "application/json"}
    scheme, context = "http", None
    if authority is not None:
        scheme, context = "https", ssl.create_default_context(cafile=str(authority))
    data = b'{"max_results": 5}' if origin else None
    request = urllib.request.Request(f"{scheme}://127.0.0.1:{port}{path}", headers=headers, data=data)
    try:
        with urllib.request.urlopen(request, timeout=30, context=context) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except OSError:
        return 0, ""
