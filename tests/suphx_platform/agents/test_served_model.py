"""A model as strangers serve it: in a new environment with MLflow and what the model's own files install there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

from suphx_platform.tracking.pyfunc_form import write_pyfunc
from tests.free_port import free_port
from tests.suphx_platform.agents.small_agents import GAMES, legal_moves, save_small

_START_SECONDS = 1200
_INSTALL = "from mlflow.models import container; container._install_pyfunc_deps({!r}, False, 'local')"
"""What the Dockerfile of `mlflow models build-docker` runs."""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder, found = tmp_path_factory.mktemp("models"), {}
    for game in GAMES:
        nets, space = save_small(folder / f"{game}-nets", game), folder / game
        space.mkdir()
        write_pyfunc(nets, space / "model", model_id="m-1", run_id="run")
        found[game] = space / "model"
    return found


@pytest.fixture(scope="module")
def clean(models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of the new environment."""
    folder = tmp_path_factory.mktemp("clean")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    programs = folder / "bin"
    subprocess.run([programs / "pip", "install", "--quiet", f"mlflow=={version('mlflow')}"], check=True, cwd=folder)
    install = _INSTALL.format(str(models["riichi"]))
    subprocess.run([programs / "python", "-c", install], check=True, cwd=folder, env=_environment(programs))
    found = subprocess.run([programs / "python", "-c", "import suphx"], cwd=folder, env=_environment(programs))
    assert found.returncode == 1, "this project is not installed there"
    return programs


def _environment(programs: Path) -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if name.startswith(("PIP_", "SSL_", "REQUESTS_"))}
    return {
        **kept,
        "HOME": str(programs.parent),
        "PATH": f"{programs}:/usr/bin:/bin",
        "MLFLOW_DISABLE_TELEMETRY": "true",
    }


@contextmanager
def served(programs: Path, model: Path) -> Iterator[str]:
    """Serve a model while the block runs; yield its address."""
    port = free_port()
    options = ["--env-manager", "local", "--port", str(port), "--workers", "1"]
    command = [str(programs / "mlflow"), "models", "serve", "-m", str(model), *options]
    process = subprocess.Popen(command, cwd=programs.parent, env=_environment(programs), start_new_session=True)
    try:
        limit = time.monotonic() + _START_SECONDS
        while not _answers(f"http://127.0.0.1:{port}/ping"):
            assert process.poll() is None, "the server has ended"
            assert time.monotonic() < limit
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/invocations"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def _answers(address: str) -> bool:
    try:
        with urlopen(address, timeout=5):
            return True
    except (URLError, OSError):
        return False


def post(address: str, values: object) -> dict[str, Any]:
    """Return the answer to the first position."""
    request = Request(address, json.dumps(values).encode(), {"Content-Type": "application/json"})
    with urlopen(request, timeout=60) as response:
        (answer,) = json.loads(response.read())["predictions"]
    return dict(answer)


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_a_model_answers_a_decision_where_this_project_is_not_installed(
    clean: Path, models: dict[str, Path], game: str
) -> None:
    example = json.loads((models[game] / "serving_input_example.json").read_text())
    with served(clean, models[game]) as address:
        answer = post(address, example)
    if game == "riichi":
        moves = [each["move"] for each in json.loads(answer["probabilities"])]
        assert json.loads(answer["action"]) in moves
        assert len(moves) > 10, "all discards"
        return
    assert answer["move"] in legal_moves(game, example["dataframe_split"]["data"][0][0])
