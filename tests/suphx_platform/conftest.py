"""Fixtures: servers, and what is in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from helm_python import Chart

from suphx_cli import cli
from suphx_platform.cluster import run_attempts
from suphx_platform.storage.storage_config import StorageConfig
from tests.helm.helm_program import with_helm
from tests.repository import REPOSITORY
from tests.suphx_platform.cluster.fake_api_server import Cluster, api_server
from tests.suphx_platform.cluster.fake_operator import KEYS, RECIPE, Command, Operator


@pytest.fixture(scope="session")
def chart_objects() -> dict[str, dict[str, Any]]:
    """What the chart installs, with storage set, by the path of its template."""
    values = {"storage": {"address": "s3://bucket/runs"}, "preset": "small"}
    texts = Chart.load(REPOSITORY / "helm" / "suphx").render(values, name="suphx", namespace="suphx")
    manifests = {path: text for path, text in texts.items() if path.endswith((".yaml", ".yml")) and text.strip()}
    return {
        path.removeprefix("suphx/templates/"): next(yaml.load_all(text, yaml.CSafeLoader))
        for path, text in manifests.items()
    }


@pytest.fixture(scope="session")
def template(chart_objects: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The ConfigMap from which runs are launched."""
    return chart_objects["run/template.yaml"]


@pytest.fixture
def helm(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program ``helm`` on PATH."""
    monkeypatch.setenv("PATH", with_helm(tmp_path_factory.mktemp("helm")))


@pytest.fixture
def cluster(
    helm: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chart_objects: dict[str, dict[str, Any]]
) -> Iterator[Cluster]:
    """An API server that holds the template of runs, and lets the caller do what the chart's Role allows."""
    with api_server(tmp_path) as (cluster, kubeconfig):
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        monkeypatch.setattr("suphx_platform.cluster.launcher.POLL_SECONDS", 0.02)
        monkeypatch.setattr("suphx_platform.cluster.cluster_api._FIRST_PAUSE_SECONDS", 0.01)
        read = run_attempts._storage_config  # the chart's bucket cannot be reached; a test's own folder can
        monkeypatch.setattr(run_attempts, "_storage_config", lambda job: _folder_only(read(job)))
        cluster.put("configmaps", json.loads(json.dumps(chart_objects["run/template.yaml"])))
        cluster.rules = chart_objects["access/roles.yaml"]["rules"]
        yield cluster


def _folder_only(config: StorageConfig | None) -> StorageConfig | None:
    return None if config is None or not config.is_folder else config


@pytest.fixture
def suphx(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command with --json: exit code, the object of the last line of stdout, stderr."""

    def run(*arguments: str) -> tuple[int, dict[str, Any], str]:
        code = cli.main([*arguments, "--json"])
        out, err = capsys.readouterr()
        lines = out.splitlines()
        assert len(lines) == (code == 0), err
        return code, json.loads(lines[-1]) if lines else {}, " ".join(err.split())

    return run


@pytest.fixture
def run_id(suphx: Command) -> str:
    """The id of a run that was launched."""
    code, result, _ = suphx("launch", str(RECIPE), "--preset", "small")
    assert code == 0
    assert result.keys() >= KEYS
    return str(result["run_id"])


@pytest.fixture
def operator(cluster: Cluster) -> Operator:
    """The operator of the fake API server, in action."""
    operator = Operator(cluster)
    cluster.operator = operator
    return operator
