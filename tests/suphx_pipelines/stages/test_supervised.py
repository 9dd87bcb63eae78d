"""The stages that train nets: what they refuse, and what is known of workers elsewhere, also if a machine is lost."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from suphx.games.registry import DEFAULT_GAME
from suphx.training.trainer import METRICS_FILE, Report
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.runs.stage import StageContext
from suphx_pipelines.runs.stage_folder import read_started
from suphx_pipelines.runs.stage_storage import StageStorage
from suphx_pipelines.stages import supervised
from suphx_pipelines.stages.records import STORE_FOLDER
from suphx_pipelines.stages.supervised import train, training_shares
from suphx_pipelines.stages.training import StageWatch
from suphx_platform.console.console import Console
from suphx_platform.storage.storage import UNDER_WAY, Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.tracking import TrackingStore
from tests.suphx_pipelines.recipe.small_recipe import LAPTOP, SMALL_LAPTOP, load_recipe
from tests.suphx_pipelines.runs.small_run import context_of
from tests.training.played_games import played_store

STAGE = f"supervised/{next(iter(training_shares(DEFAULT_GAME)))}"
START_SECONDS = 300
"""A limit for a process that may first have to compile the kernels."""


def stage_context(runs: Path, **changes: str) -> StageContext[Recipe]:
    """Return the context of a stage that trains a net on what ``runs/records/store`` has."""
    recipe = load_recipe(LAPTOP, list((SMALL_LAPTOP | changes).items()))
    tracker = TrackingStore(runs).start("supervised", key="supervised")
    return context_of(recipe, tracker, runs / "supervised", records=runs / "records")


def test_more_games_than_there_are_are_refused_before_any_net_learns(runs: Path) -> None:
    (runs / "records").mkdir()
    played_store(runs / "records" / STORE_FOLDER, 12)
    context = stage_context(runs, **{"split.train_games": "5000"})
    with pytest.raises(ValueError, match=r"split\.train_games is 5,000, but \d+ games are for training"):
        train(context, "pong")
    assert not list(context.folder.glob("*.safetensors"))


def test_a_training_on_workers_moves_the_bar(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class EndedError(Exception):
        pass

    def train_on_workers(*_: Any, report: Report) -> None:
        times = {"samples_per_second": 640.0, "waiting_share": 0.0, "seconds": 1.0}
        report({"step": 5, "samples": 640, "share_done": 0.25, "train_loss": 2.0, "learning_rate": 0.001, **times})
        raise EndedError

    shares = list[float]()
    monkeypatch.setattr(StageWatch, "progress", lambda self, share_done: shares.append(share_done))
    monkeypatch.setattr(supervised, "_job", lambda *_: None)
    monkeypatch.setattr(supervised, "train_on_workers", train_on_workers)
    with pytest.raises(EndedError):
        train(stage_context(runs, **{"data_parallel.on_ray": "true"}), "pong")
    assert shares == [0.25]


@pytest.mark.parametrize("on_ray", ["true", "false"])
def test_checkpoints_of_workers_in_another_place_are_not_passed_over(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_ray: str
) -> None:
    changes = {"data_parallel.on_ray": on_ray, "storage.address": str(tmp_path / "storage")}
    context = stage_context(runs, **changes)
    mark = context.folder / "workers.json"
    mark.write_text(json.dumps({"num_workers": 1, "storage_address": ""}))
    monkeypatch.setattr(supervised, "_job", lambda *_: None)
    with pytest.raises(ValueError, match=r"would begin again: .* with storage.address '', and it is .*storage' now"):
        train(context, "pong")
    assert json.loads(mark.read_text())["storage_address"] == ""
    (context.folder / METRICS_FILE).write_text("{}")  # of a net that is finished
    supervised._location(context)


def command(runs: Path, storage: Path, *, on_ray: bool) -> list[str]:
    """Return the command of a run that trains until it is killed."""
    settings = SMALL_LAPTOP | {
        "data_parallel.on_ray": str(on_ray).lower(),
        "storage.address": str(storage),
        "supervised.max_steps": "1000000",
    }
    words = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    return [sys.executable, "-m", "suphx_cli.cli", "run", str(LAPTOP), "--runs", str(runs), *words]


def kill_in_training(runs: Path, storage: Path) -> None:
    """Start a run whose nets Ray trains, and kill it when the first net has a checkpoint."""
    begun = command(runs, storage, on_ray=True)
    driver = subprocess.Popen(begun, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    limit = time.monotonic() + START_SECONDS
    while not list(storage.glob(f"*/{STAGE}/{UNDER_WAY}/checkpoint_*")):
        assert driver.poll() is None, "the run ended before its first checkpoint"
        assert time.monotonic() < limit, "there is no checkpoint"
        time.sleep(0.05)
    driver.kill()
    driver.wait()


@pytest.mark.slow
@pytest.mark.ray
def test_another_machine_learns_what_the_checkpoints_were_begun_with(runs: Path, tmp_path: Path) -> None:
    kill_in_training(runs, tmp_path / "storage")
    (run,) = runs.glob("laptop-*")
    alone = subprocess.run(
        command(runs, tmp_path / "storage", on_ray=False), capture_output=True, text=True, check=False
    )
    assert alone.returncode == 1
    assert "add --set data_parallel.on_ray=true to continue with one worker" in alone.stderr
    begun = read_started(run / STAGE)
    assert begun is not None
    shutil.rmtree(run)
    storage = StageStorage(Storage(StorageConfig(address=str(tmp_path / "storage"))), run.name, Console())
    (work,) = storage.further_work(STAGE, run / STAGE)
    assert (work.made.digest, work.made.inputs, work.made.code) == (begun.digest, begun.inputs, begun.code)
    storage.remove(STAGE)
    assert not list((tmp_path / "storage").glob(f"*/{STAGE}/{UNDER_WAY}/*"))
