"""Every Python block of the documents runs, those of a page one after another, with small settings."""

from __future__ import annotations

import ast
import inspect
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import suphx_platform
from suphx.training.trainer import METRICS_FILE
from suphx_platform.tracking.model_registry import ModelRegistry, Promotion, RegistryConfig
from suphx_platform.tracking.tracking import TrackingStore
from tests.code_blocks import PYTHON, pages, texts
from tests.repository import REPOSITORY
from tests.selfplay.small_policy_set import save_random
from tests.suphx_pipelines.tournament.small_side_tournament import save_nets

SMALL = {
    "max_minutes=30": "games=2, max_rounds=1, evaluate_decks=1, threads=1",
    "play_side_match(setup, 500": "play_side_match(setup, 2",
    "adapt-64:": "adapt-8:",
    '"ukeire", "ukeire", "ukeire"])': '"ukeire", "ukeire", "ukeire"], 1)',
}
"""Text of a page -> what runs here: days and minutes become seconds."""


NOT_RUN = {"docs/kubernetes.md": "needs a cluster and Airflow; tests/suphx_platform/cluster calls the same functions"}
"""Page -> why its blocks are only compiled, and their calls of this package compared with its functions."""
PAGES = {page: path for page, path in pages().items() if texts(path, PYTHON)}


def test_the_small_settings_are_those_of_the_pages() -> None:
    text = "".join(block for path in PAGES.values() for block in texts(path, PYTHON))
    assert [setting for setting in SMALL if setting not in text] == []


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder with what the pages speak of: nets of a run, and the chart as in a checkout."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())  # a program that answers lines gets none
    save_random(tmp_path / "runs" / "RUN" / "supervised")
    for folder in ("helm", "k8s"):
        (tmp_path / folder).symlink_to(REPOSITORY / folder)
    return tmp_path


@pytest.fixture
def tracked_run(place: Path) -> Iterator[None]:
    """The run RUN with the curves of its self-play, in MLflow and in its folder."""
    import mlflow

    point = {"updates": 5, "discard_entropy": 0.3}
    match = {"updates": 5, "opponent": "start", "policy": "argmax", "difference": -0.1, "interval": [-0.2, 0.0]}
    folder = place / "runs" / "RUN" / "reinforcement"
    folder.mkdir()
    (folder / METRICS_FILE).write_text(json.dumps({"history": [point], "matches": [match]}))
    store, before = TrackingStore(place / "runs"), mlflow.get_tracking_uri()
    with store.start("RUN", key="RUN") as tracker:
        tracker.log_metrics({"verdict/difference": -0.1})
        with tracker.start("reinforcement", key="RUN/reinforcement/digest") as stage:
            stage.log_metrics({"discard_entropy": 0.3}, step=5)
            nets = (place / "runs" / "RUN" / "supervised").glob("*.safetensors")
            stage.log_model("reinforcement", {path.name: path for path in nets}, step=5)
    store.close()
    yield
    mlflow.set_tracking_uri(before)


@pytest.fixture
def champion(place: Path) -> Iterator[None]:
    """The champions of both games in the MLflow store of ``runs``; the address of MLflow is restored afterwards."""
    import mlflow

    store, before = TrackingStore(place / "runs"), mlflow.get_tracking_uri()
    with store.start("night", key="night") as tracker:
        nets = {"suphx": place / "runs" / "RUN" / "supervised"}
        nets["doudizhu"] = save_nets(place / "runs" / "other" / "learning", seed=1)
        for model, folder in nets.items():
            promotion = Promotion(digest=model, replaces=None, night="1")
            ModelRegistry(store, RegistryConfig(model=model)).promote(folder, tracker, promotion)
    yield
    mlflow.set_tracking_uri(before)


@pytest.mark.parametrize("page", NOT_RUN)
def test_the_calls_of_a_page_that_cannot_run_are_those_of_the_package(page: str) -> None:
    seen = set()
    for block in texts(PAGES[page], PYTHON):
        for node in ast.walk(ast.parse(block, page)):
            if isinstance(node, ast.Call) and (name := ast.unparse(node.func)).startswith("suphx_platform."):
                function = getattr(suphx_platform, name.removeprefix("suphx_platform."))
                inspect.signature(function).bind(*node.args, **{str(one.arg): one for one in node.keywords})
                seen.add(function.__name__)
    assert seen == {"launch", "wait"}


@pytest.mark.parametrize("page", [page for page in PAGES if page not in NOT_RUN])
def test_the_blocks_of_a_page_run(page: str, place: Path, request: pytest.FixtureRequest) -> None:
    blocks = texts(PAGES[page], PYTHON)
    if any("@champion" in block for block in blocks):
        request.getfixturevalue("champion")
    if any("search_runs" in block or "search_logged_models" in block for block in blocks):
        request.getfixturevalue("tracked_run")
    names: dict[str, object] = {"__name__": "__main__"}
    for number, block in enumerate(blocks, 1):
        for setting, small in SMALL.items():
            block = block.replace(setting, small)
        block = block.replace("sqlite:///runs/", f"sqlite:///{place}/runs/")  # MLflow keeps stores by their addresses
        exec(compile(block, f"{page}, block {number}", "exec"), names)
