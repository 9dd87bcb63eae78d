"""Runs the stages of a recipe: finished ones are kept, a killed run continues, everything is tracked.

A run's id is derived from its recipe and its records, so the same command finds the same run; keys that only change how
the work is done (threads, workers) are not part of it. A stage whose inputs and code are those of a finished stage of
another run reuses that result: a changed recipe key repeats only what depends on it. A run that is resumed with other
code continues with what there is, and warns (stage_plan.py).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from suphx.games.registry import game_of_agents
from suphx.growing_pause import GrowingPause
from suphx.selfplay.agents.checkpoint_folder import find_checkpoints
from suphx_pipelines.recipe.agent_stages import last_agent
from suphx_pipelines.recipe.recipe_file import check_name, flatten, look_up, to_table, without
from suphx_pipelines.runs import run_origin, stage_folder
from suphx_pipelines.runs.attempt_writer import RunAttempt
from suphx_pipelines.runs.provenance import code_digest, digest_file, digest_files, digest_json, git_commit
from suphx_pipelines.runs.run_lock import check_free, locked
from suphx_pipelines.runs.run_origin import NO_RECORDS, ORIGIN_FOLDER
from suphx_pipelines.runs.run_summary import RECORDS, RunRecord, StageSummary, stage_note
from suphx_pipelines.runs.stage import REPORT, R, Stage, StageContext, stage_seed
from suphx_pipelines.runs.stage_folder import REPORT_NAME, Done, Started, find_finished, read_done
from suphx_pipelines.runs.stage_plan import PlannedStage, StagePlanner
from suphx_pipelines.runs.stage_storage import FILES, NEWEST, StageStorage
from suphx_platform.cluster.run_attempts import ATTEMPTS
from suphx_platform.console.console import Console
from suphx_platform.console.table_text import count_text, duration_text
from suphx_platform.ray.node_metrics import NodeMetrics
from suphx_platform.storage.objects import ExpiredKeysError
from suphx_platform.storage.storage import FINISHED, Storage
from suphx_platform.tracking.event_files import FOLDER as EVENTS_FOLDER
from suphx_platform.tracking.event_files import EventFiles
from suphx_platform.tracking.machine_metrics import system_metrics
from suphx_platform.tracking.mlflow_client import TrackingError
from suphx_platform.tracking.tracking import TRAINING, TrackedData, Tracker, TrackingStore
from suphx_platform.tracking.tracking_ui import known_address

if TYPE_CHECKING:
    from suphx_pipelines.runs.verdict import Verdict

T = TypeVar("T")

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
"""Seconds between two attempts."""
StageStatus = Literal["finished", "kept", "reused"]
FindVerdict = Callable[[Mapping[str, Mapping[str, float]]], "Verdict"]
"""Stage name -> metrics, to the verdict on the run."""
_STATUS_WORDS = {"kept": "already finished", "reused": "result of another run reused"}


def wait_for_services(reach: Callable[[], T], max_hours: float, console: Console) -> T:
    """Call ``reach`` until it raises no OSError, and return what it returns; raise the last one after ``max_hours``.

    A PermissionError (wrong keys or password) and an ExpiredKeysError are raised at once: waiting does not help.
    """
    began, pause, has_failed = time.monotonic(), GrowingPause(_FIRST_PAUSE, _LONGEST_PAUSE), False
    while True:
        try:
            found = reach()
        except (PermissionError, ExpiredKeysError):
            raise
        except OSError as error:
            waited = time.monotonic() - began
            if waited >= 3600 * max_hours:
                raise
            if not has_failed:
                console.say(f"{error}; trying again for up to {max_hours:g} h (--wait-hours)")
        else:
            if has_failed:
                console.say(f"all services answer, after {(time.monotonic() - began) / 60:.0f} min")
            return found
        has_failed = True
        time.sleep(min(pause.next(), 3600 * max_hours - waited))


@dataclass(slots=True, kw_only=True)
class RunResult:
    """What a run has done."""

    run_id: str
    folder: Path
    tracking_uri: str
    storage: str = ""
    page: str = ""
    """Address of the run's page in MLflow; empty if no server has it."""
    stages: Mapping[str, StageSummary] = field(default_factory=dict)
    verdict: Verdict | None = None
    warnings: Sequence[str] = ()

    @property
    def was_finished(self) -> bool:
        """Whether all stages had been finished before: nothing was done in this call."""
        return all(stage.status == "kept" for stage in self.stages.values())

    @property
    def report(self) -> Path:
        """The page of the report."""
        return self.folder / REPORT / REPORT_NAME

    def to_json(self) -> dict[str, object]:
        """Return the keys that scripts read of any run."""
        stages = {
            name: {"status": stage.status, "seconds": stage.seconds, "metrics": stage.metrics}
            for name, stage in self.stages.items()
        }
        return {
            "run_id": self.run_id,
            "verdict": self.verdict.sentence if self.verdict else None,
            "warnings": list(self.warnings),
            "stages": stages,
            "report": str(self.report),
            "tracking_uri": self.tracking_uri,
        }


@dataclass(eq=False)
class Runner(Generic[R]):
    """Finds the run of a recipe and its records, and finishes its stages.

    >>> result = Runner(recipe, stages, runs=Path("runs"), console=Console()).run()

    ValueError if the records or the stages are not valid.
    """

    recipe: R
    stages: Sequence[Stage[R]]
    _: KW_ONLY
    runs: Path
    console: Console
    records: Path | None = None
    storage: Storage | None = None
    """Where the stages are kept besides ``runs``, and fetched from if another machine got further."""
    run_id: str = ""
    """The run's name; empty: derived from the recipe and the records."""
    find_verdict: FindVerdict | None = None
    get_ready: Callable[[], None] | None = None
    """Called when the run has begun, before its first stage."""
    max_wait_hours: float = 0.0
    """How long the start waits for MLflow and the storage; 0 = an error if they do not answer."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """Further tags of the run in MLflow."""
    only: Sequence[str] = ()
    """Names of the stages that are run, with all that they need; empty: all. What is known of the others stays."""
    tensorboard: bool = False
    """Write the figures of MLflow as event files of TensorBoard too."""
    registered_model: str = ""
    """Registered model of which the last nets become a version; empty: none."""

    def __post_init__(self) -> None:
        _check_names(self.recipe.name, self.stages)
        self._wanted = [stage for stage in self.stages if not self.only or stage.name in self.only]
        self._identity = without(to_table(self.recipe), self.recipe.free_keys)
        self._record_files: dict[str, str] = {}
        if self.records is not None:
            with self.console.activity(f"reading the files in {self.records.name or self.records}"):
                self._record_files = digest_files(self.records)
        self._records_digest = digest_json(self._record_files) if self._record_files else None
        self._outside: dict[Path, str] = {}
        """Digests of files outside of the run."""
        self._code = code_digest()
        self._is_named = bool(self.run_id)
        self.run_id = self.run_id or run_origin.derived_run_id(self.recipe, self._records_digest)
        self.folder = self.runs / self.run_id
        self._storage = StageStorage(self.storage, self.run_id, self.console)
        self._attempt = RunAttempt(self.run_id, self.runs, None if self.storage is None else self.storage.config)
        self._plan: Mapping[str, PlannedStage] = {}
        self._source_tags: Mapping[str, str] = {}
        self._games: TrackedData | None = None
        self._tracked: set[str] | None = None
        """Keys of the stages that MLflow has; None if that is not known."""

    def run(self) -> RunResult:
        """Finish every stage in order: a folder a stage, and runs in MLflow.

        Raises whatever a stage or its check raises, and ValueError if another process works on the same run, or it has
        results of other settings.
        """
        with self._attempt:
            return self._run()

    def _run(self) -> RunResult:
        check_free(self.folder)  # before anything slow; it is locked when it is certain that the run begins
        store = TrackingStore(self.runs)
        if self.tensorboard:
            store.events = EventFiles(self.folder / EVENTS_FOLDER)

        def reach() -> None:  # writes nothing
            store.check(self.run_id)
            self._storage.reach()

        with self.console.activity("opening the MLflow store"):
            wait_for_services(reach, self.max_wait_hours, self.console)
        if self._is_named:
            run_origin.check_named_run(self.folder, self.recipe, self.stages, self._records_digest or NO_RECORDS)
        self.folder.mkdir(parents=True, exist_ok=True)
        with locked(self.folder), self._attempt:  # a pod waits for the lock before it ends
            self._make_plan()
            names = [stage.name for stage in self.stages]
            record = RunRecord(
                *(self.folder, self.recipe.name, names, self.console),
                records=self.records,
                storage=self._storage.address,
                keeps_verdict=bool(self.only),
            )
            self._source_tags = record.source_tags
            tags = {**self._source_tags, **self.tags}
            with (
                store.closed(),
                store.start(self.run_id, key=self.run_id, tags=tags, params=flatten(self._identity)) as tracker,
            ):
                # from here on: another run of this name in MLflow is refused before anything is written
                with suppress(TrackingError):  # unavailable: then this machine has begun the run, or has asked before
                    record.set_started(store.start_time(self.run_id) or math.inf)
                begun = datetime.fromisoformat(record.summary.started).timestamp()
                with record.kept(tracker), system_metrics(tracker, begun, NodeMetrics()), self._storage.uploads():
                    return self._run_stages(store, tracker, record)

    def _make_plan(self) -> None:
        planner = StagePlanner(self.folder, self._storage, self._settings, self._code)
        self._plan = wait_for_services(lambda: planner.plan(self._wanted), self.max_wait_hours, self.console)
        for stage in self._wanted:
            planned = self._plan[stage.name]
            is_new = not planned.is_finished and not find_finished(self.runs, stage.name, planned.digest, self._code)
            if stage.check is not None and is_new:
                stage.check(self.recipe)

    def _run_stages(self, store: TrackingStore, tracker: Tracker, record: RunRecord) -> RunResult:
        page, summary = known_address(store, self.run_id), record.summary
        record.set_tracking_page(page)
        begins = f"continuing, {summary.progress_text}"
        if not record.is_continued:
            begins = f"starting, {count_text(len(self._wanted), 'stage')}"
        self.console.say(f"run {self.run_id}: {begins}")
        if not tracker.is_continued and any(planned.is_finished for planned in self._plan.values()):
            with suppress(TrackingError):  # it is unavailable
                self._tracked = store.stage_keys(self.run_id)
        self._attempt.begin()
        self._keep_origin(tracker)
        if self.get_ready is not None:
            self.get_ready()
        for number, stage in enumerate(self._wanted, 1):
            self._run_stage(number, stage, tracker, record)
        others = [stage.name for stage in self.stages if stage not in self._wanted]
        record.forget([name for name in others if not (self.folder / name / stage_folder.DONE).is_file()])
        if not self.only:
            self._publish(tracker)
        verdict = None
        if self.find_verdict is not None:
            verdict = self.find_verdict({name: stage.metrics for name, stage in summary.stages.items()})
            record.set_verdict(verdict)
        return RunResult(
            run_id=self.run_id,
            folder=self.folder,
            tracking_uri=store.uri,
            storage=self._storage.address,
            page=page,
            stages={stage.name: summary.stages[stage.name] for stage in self._wanted},
            verdict=verdict,
            warnings=tuple(summary.warnings),
        )

    def _keep_origin(self, tracker: Tracker) -> None:
        """Write what the run is made of, and keep it in the storage and in MLflow."""
        origin = self.folder / ORIGIN_FOLDER
        is_changed, tags = run_origin.write_origin(self.folder, self.recipe, self._record_files)
        if is_changed:
            self._storage.forget(origin)
        self._storage.keep(ORIGIN_FOLDER, origin, FINISHED)
        tracker.set_tags(tags)
        for path in (self.folder / run_origin.RECIPE_FILE, origin / run_origin.PROVENANCE_FILE):
            tracker.log_artifact(path)

    def _run_stage(self, number: int, stage: Stage[R], tracker: Tracker, record: RunRecord) -> None:
        started, name = time.monotonic(), stage.name
        with record.stage(name):
            status, done = self._finish(number, stage, tracker)
        is_of_other_code = done.code not in ("", self._code)
        warnings = [f"{name}: its result was made by other code (commit {done.commit})"] if is_of_other_code else []
        warnings += done.warnings
        record.end_stage(name, status, done, warnings)
        self._games = record.games
        how = _STATUS_WORDS.get(status) or f"finished in {duration_text(round(time.monotonic() - started))}"
        self.console.say(f"[{number}/{len(self._wanted)}] {name}: {how}")
        if status != "finished":
            for warning in warnings:
                self.console.warn(warning)

    def _finish(self, number: int, stage: Stage[R], parent: Tracker) -> tuple[StageStatus, Done]:
        """Take the stage's result from this run, the storage or another run; if there is none, do its work."""
        folder, plan = self.folder / stage.name, self._plan[stage.name]
        if plan.work is not None:  # the first of its versions that is not damaged
            self._storage.fetch(stage.name, folder, plan.work.versions, plan.digest)
        done = read_done(folder, plan.digest) if plan.work is not None else None
        if done is not None:
            self._storage.keep(stage.name, folder, FINISHED)
            key = f"{self.run_id}/{stage.name}/{done.digest[:16]}"
            if self._tracked is not None and key not in self._tracked:  # MLflow has started with an empty database
                with self._tracker(stage, parent, key, done.inputs) as tracker:
                    self._track_result(stage, done, tracker)
            return "kept", done
        with self._tracker(stage, parent, f"{self.run_id}/{stage.name}/{plan.digest[:16]}", plan.inputs) as tracker:
            reused = self._reuse(stage, plan)
            done = reused or self._work(number, stage, plan, tracker)
            with self.console.activity(f"{stage.name}: saving"):
                self._track_result(stage, done, tracker)
        stage_folder.write_done(folder, done)
        self._storage.keep(stage.name, folder, FINISHED)
        return "finished" if reused is None else "reused", done

    @contextmanager
    def _tracker(self, stage: Stage[R], parent: Tracker, key: str, inputs: Mapping[str, Any]) -> Iterator[Tracker]:
        with parent.start(stage.name, key=key, tags=self._source_tags, params=flatten(inputs)) as tracker:
            tracker.describe(stage_note(stage, self.run_id))
            if RECORDS in stage.needs and self._games is not None:
                tracker.log_dataset(self._games, TRAINING)
            yield tracker

    def _track_result(self, stage: Stage[R], done: Done, tracker: Tracker) -> None:
        folder = self.folder / stage.name
        model = self._log_model(stage.agent, done.metrics, tracker) if stage.agent else ""
        tracker.log_metrics({**done.metrics, "warnings": len(done.warnings)}, model=model)
        for path in sorted({path for pattern in stage.artifacts for path in folder.glob(pattern)}):
            tracker.log_artifact(path)

    def _log_model(self, agent: str, metrics: Mapping[str, float], tracker: Tracker) -> str:
        """Make the nets in the folder ``agent`` a model of MLflow, and return its key."""
        folder = self.folder / agent
        files = find_checkpoints(folder, game=game_of_agents(None, [str(folder)]))
        step = next((int(metrics[name]) for name in ("best_step", "updates") if name in metrics), 0)
        return tracker.log_model(folder.name, {path.name: path for path in files}, step=step)

    def _publish(self, tracker: Tracker) -> None:
        """Note the last nets of the run as its model, and register it if that is wanted."""
        agents = {stage.agent: self._metrics_of(stage) for stage in self.stages if stage.agent}
        if (last := last_agent(stage.name for stage in self.stages)) in agents:
            tracker.publish(self._log_model(last, agents[last], tracker), self.registered_model)

    def _metrics_of(self, stage: Stage[R]) -> Mapping[str, float]:
        done = read_done(self.folder / stage.name)
        return done.metrics if done else {}

    def _reuse(self, stage: Stage[R], plan: PlannedStage) -> Done | None:
        if stage.is_summary:
            return None
        upstream = {name: read_done(self.folder / name) for name in stage.needs}
        found = find_finished(self.runs, stage.name, plan.digest, self._code, upstream)
        if found is None:
            return None
        source, done = found
        self._drop_dependents(stage)
        if not stage_folder.copy_result(source, self.folder / stage.name, done):  # that run was deleted meanwhile
            return None
        self.console.say(f"{stage.name}: reusing the result of {source}")
        return done

    def _work(self, number: int, stage: Stage[R], plan: PlannedStage, tracker: Tracker) -> Done:
        folder = self.folder / stage.name
        if plan.is_replaced:  # the storage first: if this is cut off, the next attempt finds it to do
            self._storage.remove(stage.name)
            stage_folder.empty(folder)
        self._drop_dependents(stage)  # before it: an attempt that is cut off in between drops them again
        before = stage_folder.read_started(folder)
        begun = Started(digest=plan.digest, inputs=plan.inputs, code=self._code, commit=git_commit())
        if before is not None and before.digest == plan.digest and before.code != self._code:
            begun = replace(begun, code="")
        is_continued = stage_folder.prepare(folder, begun)
        tracker.resume()  # also from nothing: MLflow may have points that a lost machine has sent
        self.console.say(f"[{number}/{len(self._wanted)}] {stage.name}: {'continuing' if is_continued else 'running'}")
        context = StageContext(
            folder=folder,
            recipe=self.recipe,
            upstream={name: self.folder / name for name in stage.needs},
            records=self.records if stage.reads_records else None,
            tracker=tracker,
            console=self.console,
            seed=stage_seed(self.recipe.seed, stage.name),
            storage_name=self._storage.name(stage.name),
            keep=partial(self._storage.keep, stage.name, folder),
            keep_best=partial(self._storage.keep_best, stage.name) if self._storage.keeps_best() else None,
            storage_figures=self._storage.figures,
        )
        if before is not None and begun.code != self._code:
            context.warn(f"{stage.name}: it was begun by other code (commit {before.commit})")
        started = time.monotonic()
        metrics = {name: float(value) for name, value in stage.run(context).items()}
        seconds = round(time.monotonic() - started, 3)
        return Done(**asdict(begun), metrics=metrics, seconds=seconds, run_id=self.run_id, warnings=context.warnings)

    def _drop_dependents(self, stage: Stage[R]) -> None:
        """Remove the results that were made from an earlier result of a stage, which somebody has deleted."""
        names = {stage.name}
        for later in self.stages[self.stages.index(stage) + 1 :]:
            if names.isdisjoint(later.needs):
                continue
            names.add(later.name)
            folder = self.folder / later.name
            if stage_folder.read_started(folder) is not None or (folder / stage_folder.DONE).is_file():
                self._storage.remove(later.name)
                stage_folder.empty(folder)

    def _settings(self, stage: Stage[R]) -> dict[str, Any]:
        """Return the inputs of a stage without the stages that it needs."""
        settings: dict[str, Any] = {
            "seed": self.recipe.seed,
            "recipe": {key: look_up(self._identity, key) for key in stage.recipe_keys},
        }
        if stage.reads_records:
            settings["records"] = self._records_digest or NO_RECORDS
        has_records = stage.reads_records and self.records is not None  # then no agent is needed
        if stage.outside_files is not None and not has_records:
            try:
                paths = stage.outside_files(self.recipe)
                for path in paths:
                    if path not in self._outside:
                        self._outside[path] = digest_file(path)
                settings |= {FILES: [self._outside[path] for path in paths]} if paths else {}
            except (ValueError, OSError):  # a file is missing
                settings[FILES] = None
        if stage.reads_newest is not None and stage.reads_newest(self.recipe):
            settings[FILES] = NEWEST
        return settings


def _check_names(recipe_name: str, stages: Sequence[Stage[Any]]) -> None:
    check_name(recipe_name)
    seen: set[str] = set()
    for stage in stages:
        missing = set(stage.needs) - seen
        if stage.name in (ORIGIN_FOLDER, ATTEMPTS, EVENTS_FOLDER):
            raise ValueError(f"a stage cannot be called {stage.name}: the run keeps files of its own there")
        if stage.name in seen:
            raise ValueError(f"stage {stage.name} is listed twice")
        if missing:
            raise ValueError(f"stage {stage.name} is listed before {', '.join(sorted(missing))}, which it needs")
        seen.add(stage.name)
