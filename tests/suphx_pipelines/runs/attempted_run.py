"""The driver of a Ray job as a program that ends in its own way: ``attempted_run.py RUNS STORAGE RUN_ID HOW``.

>>> drive(tmp_path / "pod", storage, "run-1", "fails", job="run-1-abcde-job")
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from suphx_pipelines.recipe.recipe_file import AnyRecipe
from suphx_pipelines.runs.runner import Runner
from suphx_pipelines.runs.stage import Stage, StageContext
from suphx_platform.console.console import Console
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from tests.repository import REPOSITORY


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRecipe(AnyRecipe):
    """A recipe that names its storage, as those of ``suphx run`` do."""

    name: str = "small"
    seed: int = 7
    storage: StorageConfig = field(default_factory=StorageConfig)


REASON = "the learner diverged at update 1700"


def ray_job(job: str) -> dict[str, str]:
    """Return the environment of a driver, as Ray's job supervisor sets it."""
    settings = json.dumps({"runtime_env": {}, "metadata": {"job_submission_id": job}})
    return {"RAY_JOB_CONFIG_JSON_ENV_VAR": settings}


def drive(pod: Path, storage: str, run_id: str, how: str, *, job: str, runs: Path | None = None) -> int:
    """Run the driver on a node of its own, the folder ``pod``; return its exit code. Its log is there afterwards.

    ``runs``: a folder with an empty store of MLflow, which takes seconds to make.
    """
    (pod / "runs").mkdir(parents=True, exist_ok=True)
    if runs is not None:
        shutil.copytree(runs, pod / "runs", dirs_exist_ok=True)
    words = [sys.executable, "-m", __name__, str(pod / "runs"), storage, run_id, how]
    environment = {**os.environ, **ray_job(job)}
    with (pod / f"job-driver-{job}.log").open("a") as log:
        return subprocess.run(words, stdout=log, stderr=log, env=environment, cwd=REPOSITORY, check=False).returncode


def main() -> None:
    runs, storage, run_id, how = Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]

    def work(context: StageContext[StoredRecipe]) -> dict[str, float]:
        if how == "fails":
            raise RuntimeError(REASON)
        if how == "is killed":
            os.kill(os.getpid(), signal.SIGKILL)
        return {}

    config = StorageConfig(address=storage, max_attempts=1)
    Runner(
        StoredRecipe(storage=config),
        [Stage(name="numbers", run=work)],
        runs=runs,
        records=None,
        console=Console(),
        storage=Storage(config) if storage else None,
        run_id=run_id,
    ).run()


if __name__ == "__main__":
    main()
