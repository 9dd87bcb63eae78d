"""Runs the stages of a recipe: finished ones are kept, a killed run continues, everything is tracked.

A run's id comes from its recipe and its records, so the same command finds the same run; keys that only say how the
work is done (threads, workers) have no part in it. A stage whose inputs are those of a finished stage of another run
takes that result: a changed recipe key redoes only what depends on it.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic, Literal

from suphx.atomic_file import write_atomically
from suphx_pipelines.named_run import LOCK_FILE, RECIPE_FILE, check_named_run
from suphx_pipelines.provenance import digest_files, digest_json, git_commit
from suphx_pipelines.recipe_file import flatten, look_up, to_table, to_toml, without
from suphx_pipelines.stage import R, Stage, StageContext, stage_seed
from suphx_pipelines.stage_folder import Done, copy_result, find_finished, prepare, read_done, write_done
from suphx_pipelines.stage_storage import StageStorage
from suphx_platform.console import Console
from suphx_platform.storage import FINISHED, Storage
from suphx_platform.tracking import Tracker, TrackingStore

StageStatus = Literal["finished", "kept", "reused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageResult:
    """How a stage came to be finished: by work now, by work before, or by another run's."""

    status: StageStatus
    seconds: float
    """Spent in this call."""
    metrics: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What a run has done."""

    run_id: str
    folder: Path
    tracking_uri: str
    stages: dict[str, StageResult] = field(default_factory=dict)


class Runner(Generic[R]):
    """Usage::

    runner = Runner(recipe, stages, runs=Path("runs"), records=None, console=Console())
    result = runner.run()
    """

    def __init__(
        self,
        recipe: R,
        stages: Sequence[Stage[R]],
        *,
        runs: Path,
        records: Path | None,
        console: Console,
        storage: Storage | None = None,
        run_id: str | None = None,
    ) -> None:
        """Find the run that the recipe and the records stand for; ValueError if they or the stages make no sense.

        ``storage``: where the stages are kept besides ``runs``, and taken from if another machine got further.
        ``run_id``: what the run is called where somebody else has named it.
        """
        _check_names(recipe.name, stages)
        self._recipe = recipe
        self._table = to_table(recipe)
        self._identity = without(self._table, recipe.free_keys)
        self._stages = stages
        self._runs = runs
        self._records = records
        self._console = console
        files = {} if records is None else digest_files(records)
        records_digest = digest_json(files) if files else None
        self._records_digest = records_digest or "none given"
        self._is_named = run_id is not None
        self.run_id = run_id or f"{recipe.name}-{digest_json([self._identity, records_digest])[:10]}"
        self.folder = runs / self.run_id
        self._storage = StageStorage(storage, self.run_id, console)

    def run(self) -> RunResult:
        """Finish every stage in order.

        Consumes: the recipe, the records. Produces: a folder a stage, runs in MLflow. Raises whatever a stage raises,
        and ValueError if another process works on the same run, or it was named and is another one.
        """
        store = TrackingStore(self._runs)
        store.reach()  # before anything is written
        if self._is_named:
            check_named_run(self.folder, self._recipe, self._stages, self._records_digest)
        self.folder.mkdir(parents=True, exist_ok=True)
        with _locked(self.folder / LOCK_FILE):
            params = flatten(self._identity)
            with (
                closing(store),
                store.start(self.run_id, key=self.run_id, tags=_tags(), params=params) as tracker,
                self._storage.uploads(),
            ):
                recipe_file = self.folder / RECIPE_FILE
                write_atomically(recipe_file, [to_toml(self._recipe).encode()])
                tracker.log_artifact(recipe_file)
                result = RunResult(run_id=self.run_id, folder=self.folder, tracking_uri=store.uri)
                self._run_stages(result, tracker)
        return result

    def _run_stages(self, result: RunResult, tracker: Tracker) -> None:
        digests: dict[str, str] = {}
        for number, stage in enumerate(self._stages, 1):
            inputs = self._inputs(stage, digests)
            digests[stage.name] = digest_json([stage.name, inputs])
            started = time.monotonic()
            status, done = self._finish(stage, inputs, digests[stage.name], tracker)
            seconds = round(time.monotonic() - started, 3)
            self._console.say(f"[{number}/{len(self._stages)}] {stage.name}: {status} in {seconds:.0f} s")
            result.stages[stage.name] = StageResult(status=status, seconds=seconds, metrics=done.metrics)

    def _finish(
        self, stage: Stage[R], inputs: Mapping[str, Any], digest: str, parent: Tracker
    ) -> tuple[StageStatus, Done]:
        folder = self.folder / stage.name
        done = read_done(folder, digest)
        if done is None:
            self._storage.fetch(stage.name, folder)
            done = read_done(folder, digest)
        if done is not None:
            self._storage.keep(stage.name, folder, FINISHED)
            return "kept", done
        found = find_finished(self._runs, stage.name, digest)
        key = f"{self.run_id}/{stage.name}/{digest[:16]}"
        with parent.start(stage.name, key=key, tags=_tags(), params=flatten(inputs)) as tracker:
            if found is not None:
                source, done = found
                self._console.say(f"{stage.name}: taking the result of {source}")
                copy_result(source, folder)
            else:
                done = self._work(stage, inputs, digest, tracker)
            tracker.log_metrics(done.metrics)
            for path in sorted({path for pattern in stage.artifacts for path in folder.glob(pattern)}):
                tracker.log_artifact(path)
        write_done(folder, done)
        self._storage.keep(stage.name, folder, FINISHED)
        return "finished" if found is None else "reused", done

    def _work(self, stage: Stage[R], inputs: Mapping[str, Any], digest: str, tracker: Tracker) -> Done:
        self._console.say(f"{stage.name}: running")
        folder = self.folder / stage.name
        prepare(folder, digest)
        context = StageContext(
            folder=folder,
            recipe=self._recipe,
            upstream={name: self.folder / name for name in stage.needs},
            records=self._records if stage.reads_records else None,
            tracker=tracker,
            console=self._console,
            seed=stage_seed(self._recipe.seed, stage.name),
            storage_name=self._storage.name(stage.name),
            keep=partial(self._storage.keep, stage.name, folder),
        )
        started = time.monotonic()
        metrics = stage.run(context)
        seconds = time.monotonic() - started
        return Done(digest=digest, inputs=inputs, metrics=metrics, seconds=round(seconds, 3), run_id=self.run_id)

    def _inputs(self, stage: Stage[R], digests: Mapping[str, str]) -> dict[str, Any]:
        inputs: dict[str, Any] = {
            "version": stage.version,
            "seed": self._recipe.seed,
            "recipe": {key: look_up(self._identity, key) for key in stage.recipe_keys},
            "upstream": {name: digests[name] for name in stage.needs},
        }
        if stage.reads_records:
            inputs["records"] = self._records_digest
        return inputs


def _check_names(recipe_name: str, stages: Sequence[Stage[Any]]) -> None:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,62}", recipe_name):
        raise ValueError(f"name is {recipe_name!r}: use small letters, digits, - and _, as it becomes a folder's name")
    seen: set[str] = set()
    for stage in stages:
        missing = set(stage.needs) - seen
        if missing or stage.name in seen:
            raise ValueError(f"stage {stage.name} stands twice or before what it needs: {', '.join(sorted(missing))}")
        seen.add(stage.name)


def _tags() -> dict[str, str]:
    return {"mlflow.source.git.commit": git_commit()}


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the run for this process; ValueError if another one has it.

    A POSIX lock, not flock: worker processes that outlive a killed run must not keep it.
    """
    with path.open("a+", encoding="ascii") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.seek(0)
            owner = file.read().strip() or "unknown"
            raise ValueError(f"{path.parent} is being run by process {owner}: wait for it, or stop it") from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
