"""The MLflow server of the chart: where it keeps what, to whom it answers, over what."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helm.everything import EVERYTHING, Render, find
from tests.helm.mlflow.mlflow_process import SEARCH, SERVICE, VALUES, ask, server_pod, started

ADMIN = "admin:a-long-password"


def container(render: Render, values: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = server_pod(render, values)["spec"]["containers"][0]
    return found


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_runs_are_given_the_address_that_the_server_answers_to(render: Render, scheme: str) -> None:
    tls = {"tlsSecretName": "mlflow-tls" if scheme == "https" else ""}
    job = find(render({**EVERYTHING, "mlflow": {**EVERYTHING["mlflow"], **tls}}), "RayJob", "first")
    environment = job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0]["env"]
    addresses = [variable["value"] for variable in environment if variable["name"] == "MLFLOW_TRACKING_URI"]
    assert addresses == [f"{scheme}://{SERVICE}"]


def test_the_rules_of_its_users_are_in_no_object_that_a_launcher_can_change(render: Render) -> None:
    pod = server_pod(render, VALUES)
    volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
    (item,) = volumes["auth"]["downwardAPI"]["items"]
    assert item["fieldRef"] == {"fieldPath": "metadata.annotations['suphx/basic-auth']"}
    assert "default_permission = READ" in pod["metadata"]["annotations"]["suphx/basic-auth"]
    assert item["path"] == "basic_auth.ini"
    assert {"name": "MLFLOW_AUTH_CONFIG_PATH", "value": "/auth/basic_auth.ini"} in pod["spec"]["containers"][0]["env"]
    assert not [one for one in render(VALUES) if one["kind"] == "ConfigMap" and "mlflow" in one["metadata"]["name"]]
    rules = find(render(VALUES), "Role", "suphx-launcher")["rules"]
    assert {"pods", "deployments"}.isdisjoint(
        resource for rule in rules if "patch" in rule["verbs"] for resource in rule["resources"]
    )


@pytest.mark.slow
def test_the_server_answers_to_its_own_names_only_and_to_nobody_without_a_password(
    render: Render, tmp_path: Path
) -> None:
    route = {"enabled": True, "hostnames": ["mlflow.example.org"], "parentRefs": [{"name": "public"}]}
    values = {**VALUES, "networkPolicy": {"ingressNamespace": "gateway"}}
    with started(server_pod(render, values | {"mlflow": {**VALUES["mlflow"], "route": route}}), tmp_path) as port:
        for host in (SERVICE, "mlflow.example.org", "mlflow.example.org:443"):
            status, body = ask(port, SEARCH, host=host, user=ADMIN)
            assert (status, json.loads(body)["experiments"][0]["name"]) == (200, "Default")
            assert ask(port, SEARCH, host=host)[0] == 401
            assert ask(port, SEARCH, host=host, user="admin:wrong")[0] == 401
        assert ask(port, SEARCH, host="evil.example.org", user=ADMIN)[0] == 403
        for origin, status in (("https://mlflow.example.org", 200), ("https://evil.example.org", 403)):
            search = "/ajax-api/2.0/mlflow/experiments/search"  # as a page does
            assert ask(port, search, host="mlflow.example.org", user=ADMIN, origin=origin)[0] == status
    assert (tmp_path / "mlflow.db").is_file()


def certificate(folder: Path) -> None:
    """Write the files of a secret that cert-manager would make for the server."""
    made = ["-keyout", "tls.key", "-out", "tls.crt", "-days", "2", "-subj", "/CN=suphx-mlflow"]
    names = ["-addext", f"subjectAltName=DNS:{SERVICE.partition(':')[0]},IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *made, *names]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    shutil.copy(folder / "tls.crt", folder / "ca.crt")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl: apt-get install openssl")
def test_with_a_certificate_the_server_speaks_https_only(render: Render, tmp_path: Path) -> None:
    certificate(tmp_path)
    values = {**VALUES, "mlflow": {**VALUES["mlflow"], "tlsSecretName": "mlflow-tls"}}
    with started(server_pod(render, values), tmp_path) as port:
        assert ask(port, SEARCH, host=SERVICE, user=ADMIN, authority=tmp_path / "ca.crt")[0] == 200
        assert ask(port, SEARCH, host=SERVICE, user=ADMIN)[0] == 0
        command = container(render, values)["livenessProbe"]["exec"]["command"]
        here = {"python": sys.executable, "/tls/tls.crt": str(tmp_path / "tls.crt"), "5000": str(port)}
        own = [here.get(word, word) for word in command]
        assert subprocess.run(own, check=False).returncode == 0
        certificate(tmp_path)  # as cert-manager renews it
        done = subprocess.run(own, capture_output=True, text=True, check=False)
        assert (done.returncode, "was renewed" in done.stderr) == (1, True), done.stderr
