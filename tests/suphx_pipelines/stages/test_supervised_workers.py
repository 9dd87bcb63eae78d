"""A data-parallel training whose machine is lost: what another machine is told about the workers' checkpoints."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from suphx_pipelines.engine.stage_folder import read_started
from suphx_pipelines.engine.stage_storage import StageStorage
from suphx_pipelines.stages.supervised import TRAINING_ORDER
from suphx_platform.console.console import Console
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.storage.stored_versions import UNDER_WAY
from tests.suphx_pipelines.recipe.small_laptop import RECIPE, SMALL

pytestmark = [pytest.mark.slow, pytest.mark.ray]

STAGE = f"supervised/{TRAINING_ORDER[0]}"
START_SECONDS = 300
"""A limit for a process that may first have to compile the kernels."""


def command(runs: Path, storage: Path, *, on_ray: bool) -> list[str]:
    """Return the command of a run that trains until it is killed."""
    settings = SMALL | {
        "data_parallel.on_ray": str(on_ray).lower(),
        "storage.address": str(storage),
        "supervised.max_steps": "1000000",
        "learning_curve.games": "[]",
        "ablation.encoders": "[]",
    }
    words = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    return [sys.executable, "-m", "suphx_cli.cli", "run", str(RECIPE), "--runs", str(runs), *words]


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
    assert (work.digest, work.inputs, work.sources) == (begun.digest, begun.inputs, begun.sources)
    storage.remove(STAGE)
    assert not list((tmp_path / "storage").glob(f"*/{STAGE}/{UNDER_WAY}/*"))
