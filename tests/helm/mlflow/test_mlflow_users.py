"""Who may do what on the chart's MLflow server: its real server, and the Job that creates the users, are run here."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from suphx_platform.tracking.mlflow_client import TrackingRefusedError
from suphx_platform.tracking.model_registry import (
    ModelRegistry,
    Promotion,
    RegistryConfig,
    fetch_model,
)
from suphx_platform.tracking.server_users import MODELS, Login, set_up_users
from suphx_platform.tracking.tracking import TrackingStore
from tests.helm.everything import Render, find, pods
from tests.helm.mlflow.mlflow_process import SECRETS, VALUES, environment, server_pod, started

USERS = ("MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD")


def variables(render: Render, role: str) -> dict[str, str]:
    """The variables of the pods of a role."""
    found = [pod for _, pod in pods(render(VALUES)) if pod["metadata"]["labels"].get("suphx/role") == role]
    return environment(found[0]["spec"]["containers"][0])


def test_only_the_tournament_logs_in_as_its_user(render: Render) -> None:
    users = {
        (pod["metadata"]["labels"].get("suphx/role"), environment(container).get(USERS[0]))
        for _, pod in pods(render(VALUES))
        for container in pod["spec"]["containers"]
        if "env" in container
    }
    assert {role for role, user in users if user == "tournament"} == {"nightly"}
    assert {role for role, user in users if user == "runs"} == {"head", "test-mlflow"}


def run_job(render: Render, address: str, secrets: Mapping[str, Mapping[str, str]]) -> subprocess.CompletedProcess[str]:
    """Run the Job that Helm creates after an install or upgrade."""
    job = find(render(VALUES), "Job", "suphx-mlflow-users")
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["args"][0] == "python"
    own = {name: text for name, text in environment(container, secrets).items() if name not in ("HOME", "SUPHX_CACHE")}
    return subprocess.run(
        [sys.executable, *container["args"][1:]],
        env={**os.environ, **own, "MLFLOW_TRACKING_URI": address},
        capture_output=True,
        text=True,
    )


@pytest.fixture
def login(render: Render, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Be the user of a role of pods."""

    def be(role: str) -> None:
        for name in USERS:
            monkeypatch.setenv(name, variables(render, role)[name])

    return be


@pytest.fixture
def address(render: Render, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "server").mkdir()
    with started(server_pod(render, VALUES), tmp_path / "server") as port:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{port}")
        yield f"http://127.0.0.1:{port}"


def nets(folder: Path) -> Path:
    folder.mkdir()
    (folder / "discard.safetensors").write_bytes(b"weights")
    return folder


@pytest.mark.slow
def test_only_the_tournament_moves_the_champion(
    render: Render, address: str, login: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run_job(render, address, SECRETS)
    assert done.returncode == 0, done.stderr
    assert "has the users runs, tournament" in done.stdout

    login("head")  # a run tracks itself
    store = TrackingStore(tmp_path / "run")
    with store.start("run", key="run-1") as run:
        run.log_metrics({"updates": 1.0}, 1)
        run.log_artifact(nets(tmp_path / "nets") / "discard.safetensors")
        run.flush()
    assert store.newest_metrics("run-1")["updates"] == 1.0

    login("nightly")  # the tournament promotes what the run has trained
    night = TrackingStore(tmp_path / "night").start("night", key="night")
    registry = ModelRegistry(TrackingStore(tmp_path / "night"), RegistryConfig())
    promotion = Promotion(digest="a", replaces=None, night="1", trained_in="run-1")
    assert registry.promote(tmp_path / "nets", night, promotion) == "1"

    login("head")  # a run reads the champion, and cannot change it
    assert fetch_model(store, "models:/suphx@champion", tmp_path / "fetched") == "1"
    own = ModelRegistry(store, RegistryConfig())
    for model in MODELS:
        other = ModelRegistry(store, RegistryConfig(model=model))
        with pytest.raises(TrackingRefusedError):
            other.promote(tmp_path / "nets", run, Promotion(digest="b", replaces="1", night="2"))
    source = store.client.get_model_version("suphx", "1").source or ""
    for act in changes(store.client, source):
        with pytest.raises(Exception, match="Permission denied"):
            act()
    assert own.champion() == "1"
    assert [one.version for one in store.client.search_model_versions("name = 'suphx'")] == ["1"]

    login("head")
    changed = {**SECRETS, "runs": {**SECRETS["runs"], USERS[1]: "another-password"}}
    assert run_job(render, address, changed).returncode == 0  # helm upgrade after the secret was changed
    with pytest.raises(TrackingRefusedError):
        TrackingStore(tmp_path / "run").reach()
    monkeypatch.setenv(USERS[1], "another-password")
    assert own.champion() == "1"

    wrong = run_job(render, address, {**SECRETS, "admin": {**SECRETS["admin"], "MLFLOW_AUTH_ADMIN_PASSWORD": "wrong"}})
    assert wrong.returncode == 1
    assert "server_users: " in wrong.stderr


def changes(client: Any, source: str) -> list[Callable[[], object]]:
    """All that would change what the champion is."""
    from mlflow.server.auth.client import AuthServiceClient

    users = AuthServiceClient(os.environ["MLFLOW_TRACKING_URI"])
    return [
        lambda: client.set_registered_model_alias("suphx", "champion", "1"),
        lambda: client.delete_registered_model_alias("suphx", "champion"),
        lambda: client.create_model_version("suphx", source),
        lambda: client.update_model_version("suphx", "1", description="x"),
        lambda: client.set_model_version_tag("suphx", "1", "suphx.digest", "x"),
        lambda: client.delete_model_version("suphx", "1"),
        lambda: client.rename_registered_model("suphx", "mine"),
        lambda: client.delete_registered_model("suphx"),
        lambda: users.grant_user_permission("runs", "registered_model", "suphx", "MANAGE"),
        lambda: users.update_user_admin("runs", True),
        lambda: users.update_user_password("tournament", "a-password-of-mine"),
    ]


def test_runs_and_the_tournament_must_be_two_users() -> None:
    one = Login(name="both", password="a-long-password")
    with pytest.raises(ValueError, match="the same user both: runs could move the champion"):
        set_up_users("http://127.0.0.1:9", runs=one, tournament=one)
