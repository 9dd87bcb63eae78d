"""What a run says about itself: ``run.json`` and ``run.log`` in its folder, and its page in MLflow.

``run.json`` is written when a run starts and whenever its state changes, whole or not at all; ``suphx runs`` and the
report read it.
"""

from __future__ import annotations

import inspect
import logging
import os
import shlex
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import psutil

from suphx.credentials import without_credentials
from suphx.games.learning import MANIFEST_FILE
from suphx.games.registry import GAMES, agent_names
from suphx.printable_text import encodable
from suphx.usable_cores import usable_cores
from suphx_pipelines.json_file import InvalidValueError, read_json, typed, write_json
from suphx_pipelines.recipe.recipe_file import flatten, read_toml
from suphx_pipelines.runs.provenance import environment, git_commit, source_tags
from suphx_pipelines.runs.run_commands import agent_commands, command_line, continue_command, page_command
from suphx_pipelines.runs.run_lock import LOCK_FILE, is_locked
from suphx_pipelines.runs.run_origin import RECIPE_FILE
from suphx_pipelines.runs.stage import TRACKED_FOLDER, Stage, read_note
from suphx_pipelines.runs.stage_folder import REPORT_NAME, Done
from suphx_platform.console.console import Console, is_lost_output
from suphx_platform.tracking.mlflow_client import TrackingError
from suphx_platform.tracking.tracking import TRAINING, TrackedData, Tracker, TrackingStore

if TYPE_CHECKING:
    from suphx_pipelines.runs.verdict import Verdict

RUN_FILE = "run.json"
LOG_FILE = "run.log"
RunState = Literal["running", "finished", "failed", "interrupted", "damaged"]
"""``damaged``: a file of the run cannot be read."""
StageState = Literal["waiting", "running", "finished", "kept", "reused"]
_FINISHED: tuple[StageState, ...] = ("finished", "kept", "reused")
_GIB = 2**30
_REFRESH_SECONDS = 120.0
"""So much of the time spent is lost, at most, when the process is killed."""
_SHOWN_FIGURES = (
    "records/games", "records/kyoku", "records/decisions", "supervised/*/accuracy", "supervised/*/loss",
    "evaluation/average_placement", "evaluation/deal_in_rate", "evaluation/paired_difference*",
    "evaluation/start_difference*", "evaluation/win_rate", "learning/games", "learning/loss",
    "agent_comparison/*", "reward_predictor/loss", "reward_predictor/margin_to_*",
    "*/updates", "*/hanchans", "*/decisions", "*/decks", "*/start_difference*", "*/start_points_per_kyoku*",
    "*/start_sampled_difference*", "*/weak_difference*",
    *(f"*/{name}_difference*" for game in GAMES for name in agent_names(game)),
    "match/*_share*", "match/*_points*", "decision/games", "decision/difference*", "decision/share*",
    "decision/points*", "decision/is_won", "promotion/promoted", "leaderboard/games", "leaderboard/rating/*",
)  # fmt: skip
"""Patterns of ``<stage>/<metric>``: ``match`` and ``share`` are those of games of two sides. What else a stage measures
is in MLflow, on the page of the stage."""
_STORE_FOLDER = "store"
RECORDS, _REPORT = "records", Path("report") / REPORT_NAME
_SAMPLE_COLUMNS = {"planes": "binary", "legal": "binary", "choice": "integer"}
"""Of a decision, as nets learn from it."""
_SHOWN = ("*.html", "*.svg")
_SET_IN_PODS = "KUBERNETES_SERVICE_HOST"
_KILLED = "KILLED"
_STATUSES = {"finished": "FINISHED", "failed": "FAILED"}
"""State of a run that had ended, but could not say so any more -> its status in MLflow."""

_logger = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class StageSummary:
    """One stage of a run."""

    status: StageState = "waiting"
    """``kept``: finished by an earlier command; ``reused``: the result of another run was taken."""
    seconds: float = 0.0
    """Time spent on it, over all commands."""
    warnings: list[str] = field(default_factory=list)
    """What is wrong with its result, such as a net that has not learned."""
    metrics: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class RunSummary:
    """The content of ``run.json``."""

    folder: Path = field(default=Path(), compare=False)
    """Where it was read from; not part of the file."""
    run_id: str
    recipe: str
    command: list[str]
    """The command line that continues the run."""
    state: RunState
    started: str
    """When it was first started, ISO 8601 with the time zone."""
    seconds: float = 0.0
    """Time spent on it, over all commands."""
    verdict: str | None = None
    """What came out of it, in one sentence; None before the end."""
    outcome: str | None = None
    """better, worse, not_better, undecided or none (verdict.py); None before the end."""
    stages: dict[str, StageSummary] = field(default_factory=dict)
    error: str | None = None
    machine: str = ""
    """Cores, memory and GPU in short words."""
    version: str = ""
    commit: str = ""
    tracking_page: str = ""
    """Address of the run's page in MLflow, or the command that opens it."""

    @property
    def warnings(self) -> list[str]:
        """What is wrong with the results, of all stages."""
        return [warning for stage in self.stages.values() for warning in stage.warnings]

    @property
    def report(self) -> Path | None:
        """The page of the report; None if the run has not written one."""
        path = self.folder / _REPORT
        return path if path.is_file() else None

    @property
    def metrics(self) -> dict[str, dict[str, float]]:
        """The metrics of the finished stages, stage name -> metric -> value, in the order of the stages."""
        return {name: stage.metrics for name, stage in self.stages.items() if stage.metrics}

    def settings(self) -> dict[str, Any]:
        """Return all keys of the run's recipe, ``a.b``; ValueError if its file is damaged."""
        try:
            return flatten(read_toml(self.folder / RECIPE_FILE))
        except ValueError as error:
            raise ValueError(f"the run is damaged: {error}") from error

    def to_json(self) -> dict[str, Any]:
        """Return the keys that scripts read in a list of runs."""
        names = ("run_id", "recipe", "state", "verdict", "started", "seconds", "error")
        return {name: getattr(self, name) for name in names}

    @property
    def progress_text(self) -> str:
        """How many stages are finished, such as ``3 of 9 stages are finished``."""
        finished = sum(stage.status in _FINISHED for stage in self.stages.values())
        return f"{finished} of {len(self.stages)} stages are finished"

    def write(self, folder: Path) -> None:
        """Replace ``run.json`` in the run's ``folder``."""
        write_json(folder / RUN_FILE, {name: value for name, value in asdict(self).items() if name != "folder"})

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Return the summary in the run's ``folder``; None if there is none, ValueError if it is damaged."""
        path = folder / RUN_FILE
        if not path.is_file():
            return None
        try:
            return replace(typed(cls, path.read_bytes()), folder=folder)
        except InvalidValueError as error:
            raise ValueError(f"{path} is damaged ({error.key}: {error}): remove it, the run writes it again") from error


def headlines(stage: str, metrics: Mapping[str, float]) -> dict[str, float]:
    """Return those metrics of a finished stage that say how good its result is, or how much work it was."""
    return {
        name: value
        for name, value in metrics.items()
        if any(fnmatchcase(f"{stage}/{name}", pattern) for pattern in _SHOWN_FIGURES)
    }


def machine_text() -> str:
    """Return cores, memory and GPUs in short words, such as ``2 cores, 23 GiB, NVIDIA H100``."""
    memory = psutil.virtual_memory().total / _GIB
    parts = [f"{usable_cores()} cores", f"{memory:.0f} GiB"]
    torch = sys.modules.get("torch")  # importing it takes seconds; whoever trains has done so
    if torch is not None and torch.cuda.is_available():
        count = torch.cuda.device_count()
        parts.append((f"{count} x " if count > 1 else "") + str(torch.cuda.get_device_name(0)))
    return ", ".join(parts)


def stage_note(stage: Stage[Any], run_id: str) -> str:
    """Return the description of a stage, in Markdown: what its function says of itself, and its run."""
    run = stage.run
    while isinstance(run, partial):
        run = run.func
    purpose = (inspect.getdoc(run) or "").partition("\n\n")[0].replace("``", "`")
    place = (
        f"Stage `{stage.name}` of the run `{run_id}`, whose description has the verdict and whose artifacts have the "
        "report."
    )
    return "\n\n".join(text for text in (purpose, place) if text)


class RunRecord:
    """Consumes: what happens to a run. Produces: its summary, its log, and its page in MLflow.

    >>> record = RunRecord(folder, "laptop", ["records", "report"], console)
    >>> with record.kept(tracker):
    ...     with record.stage("records"):
    ...         done = work()
    ...     record.end_stage("records", "finished", done, warnings=[])
    """

    _tracker: Tracker

    def __init__(
        self,
        folder: Path,
        recipe: str,
        stages: Sequence[str],
        console: Console,
        *,
        records: Path | None = None,
        storage: str = "",
        keeps_verdict: bool = False,
        refresh_seconds: float = _REFRESH_SECONDS,
    ) -> None:
        """``records``: None if the run plays the games itself. ``storage``: its address, if there is one.
        ``keeps_verdict``: that of an earlier command stays, as this one runs some of the stages only.

        ``refresh_seconds``: how often the summary is written while a stage works, with the time spent so far.
        """
        self._folder, self._records, self._storage, self._console = folder, records, storage, console
        self._refresh_seconds = refresh_seconds
        self._lock = threading.Lock()
        self._running: tuple[StageSummary, float] | None = None
        """The stage that works, and when it would have begun if it had worked all its time without a pause."""
        self._started_at = time.monotonic()
        before = RunSummary.read(folder)
        self._seconds_before = before.seconds if before else 0.0
        known = before.stages if before else {}
        self.summary = RunSummary(
            run_id=folder.name,
            recipe=recipe,
            command=command_line(),
            state="running",
            started=before.started if before else datetime.now().astimezone().isoformat(timespec="seconds"),
            seconds=self._seconds_before,
            verdict=before.verdict if before and keeps_verdict else None,
            outcome=before.outcome if before and keeps_verdict else None,
            stages={name: known.get(name, StageSummary()) for name in stages},
            machine=machine_text(),
            version=environment()["suphx"],
            commit=git_commit(),
        )
        self.source_tags = {
            **source_tags(),
            "mlflow.source.name": " ".join([*self.summary.command[:2], recipe]),  # MLflow shows what follows a slash
            "mlflow.source.type": "JOB" if _SET_IN_PODS in os.environ else "LOCAL",
        }
        """MLflow's tags of the command and the code that work now, for the run and its stages."""
        self._data: dict[str, float] = {}
        self.games: TrackedData | None = None
        """What nets learn from, when the stage of records has ended."""

    @property
    def is_continued(self) -> bool:
        """Tell whether an earlier command has begun the run."""
        return self._seconds_before > 0

    @contextmanager
    def kept(self, tracker: Tracker) -> Iterator[None]:
        """Keep log, summary and page while the block runs; the way in which it ends becomes the run's state."""
        self._tracker = tracker
        run = self.summary
        tracker.set_tags(
            {
                **self.source_tags,
                "suphx.command": shlex.join(run.command),
                "suphx.recipe": run.recipe,
                "suphx.machine": run.machine,
            }
        )
        self._describe()
        try:
            with self._console.log_to(self._folder / LOG_FILE):
                self._write()
                self._console.detail(f"command: {shlex.join(self.summary.command)}")
                facts = {**environment(), "machine": self.summary.machine}
                self._console.detail(", ".join(f"{name} {value}" for name, value in facts.items()))
                try:
                    with self._refreshed():
                        yield
                except BaseException as error:
                    with suppress(OSError):  # such as a folder that is gone: what has ended the run is more important
                        if isinstance(error, KeyboardInterrupt) or is_lost_output(error):
                            self._end("interrupted")
                        else:
                            text = encodable(without_credentials(" ".join(str(error).split())))
                            self._end("failed", text or type(error).__name__)
                    raise
                self._end("finished")
        finally:
            last = {"seconds": self.summary.seconds, "warnings": len(self.summary.warnings)}
            tracker.log_metrics({**self._data, **last})  # last: MLflow compares runs by the first metric
            self._describe()
            report = self._folder / _REPORT
            others = sorted(path for kind in _SHOWN for path in report.parent.glob(kind) if path != report)
            for path in (report, *others, self._folder / LOG_FILE, self._folder / RUN_FILE):
                copy = report.parent / TRACKED_FOLDER / path.name
                shown = copy if path.parent == report.parent and copy.is_file() else path
                if shown.is_file():
                    tracker.log_artifact(shown)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time of the block for the stage."""
        summary = self.summary.stages[name]
        self._running = summary, time.monotonic() - summary.seconds
        summary.status, summary.warnings, summary.metrics = "running", [], {}
        self._write()
        try:
            yield
        finally:
            self._count()
            self._running = None

    def end_stage(self, name: str, status: StageState, done: Done, warnings: Sequence[str]) -> None:
        """Note how a stage was finished, its figures, and what is wrong with its result."""
        summary = self.summary.stages[name]
        summary.status, summary.warnings, summary.metrics = status, [*map(encodable, warnings)], dict(done.metrics)
        self._write()
        figures = {f"{name}/{figure}": value for figure, value in headlines(name, done.metrics).items()}
        if name == RECORDS:
            self._data = figures
            counts = {key: int(done.metrics[key]) for key in ("games", "kyoku", "decisions") if key in done.metrics}
            digest, store = done.digest, self._folder / RECORDS / _STORE_FOLDER
            if store.is_dir():
                digest = read_json(store / MANIFEST_FILE)["sha256"]
            self.games = TrackedData(
                name=encodable(self._records.name) if self._records else "games of the run",
                digest=digest,
                source=(self._records or self._folder / RECORDS).resolve().as_uri(),
                profile=counts,
                columns=_SAMPLE_COLUMNS,
            )
            self._tracker.log_dataset(self.games, TRAINING)
        elif figures:
            self._tracker.log_metrics(figures)
        self._describe()

    def forget(self, stages: Sequence[str]) -> None:
        """Note that there are no results of these stages; what came out of the run is not known then."""
        for name in stages:
            self.summary.stages[name] = StageSummary()
        if stages:
            self.summary.verdict = self.summary.outcome = None

    def set_started(self, seconds: float) -> None:
        """Note that the run was begun at this time, in seconds since 1970, if that is earlier than is known here."""
        if seconds < datetime.fromisoformat(self.summary.started).timestamp():
            self.summary.started = datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")

    def set_tracking_page(self, page: str) -> None:
        """Note where the run's page in MLflow is; ``page``: its address, empty if only a command opens it."""
        self.summary.tracking_page = page or shlex.join(page_command(self.summary.run_id, self._folder))

    def set_verdict(self, verdict: Verdict) -> None:
        """Note what came out of the run, with the difference behind it, whatever was measured."""
        self.summary.verdict, self.summary.outcome = verdict.sentence, verdict.outcome
        self._tracker.set_tags({"suphx.outcome": verdict.outcome})
        name = "difference" if verdict.measure.sign < 0 else verdict.measure.name
        figures = {"": verdict.difference, "_low": verdict.low, "_high": verdict.high}
        known = {f"verdict/{name}{end}": value for end, value in figures.items() if value is not None}
        if len(known) == len(figures):
            self._tracker.log_metrics({**known, "verdict/hanchans": verdict.hanchans})

    def _end(self, state: RunState, error: str | None = None) -> None:
        self.summary.state, self.summary.error = state, error
        if error is not None:
            self._console.detail(f"failed: {error}")
        self._write()

    @contextmanager
    def _refreshed(self) -> Iterator[None]:
        is_over = threading.Event()

        def refresh() -> None:
            while not is_over.wait(self._refresh_seconds):
                with suppress(OSError):  # such as a full disk: the next write of the run itself says so
                    self._write()

        thread = threading.Thread(target=refresh, name="run.json", daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    def _count(self) -> None:
        now, running = time.monotonic(), self._running
        self.summary.seconds = round(self._seconds_before + now - self._started_at, 3)
        if running is not None:
            stage, begun = running
            stage.seconds = round(now - begun, 3)

    def _write(self) -> None:
        with self._lock:
            self._count()
            self.summary.write(self._folder)

    def _describe(self) -> None:
        self._tracker.describe(description(self.summary, self._folder, self._storage))


def description(summary: RunSummary, folder: Path, storage: str = "") -> str:
    """Return the description of the run in ``folder``, in Markdown: state, verdict, warnings, notes and commands."""
    notes = [read_note(folder / name) for name in summary.stages]
    warnings = "\n".join(f"- Warning: {warning}" for warning in summary.warnings)
    again, commands = summary.command, {"Command": summary.command}
    error = (summary.error or "unknown error").rstrip(".")
    word = {"failed": f"Failed: {error}.", "interrupted": "Stopped."}.get(summary.state, "Running.")
    state = f"**{word}** {summary.progress_text}."
    if summary.state == "finished":
        pages = "Under *Artifacts*: `report.html` is the report, the SVG files are its pictures."
        state = f"**{summary.verdict or 'All stages are finished.'}** {pages}"
        commands |= {"Open this page": page_command(summary.run_id, folder), **agent_commands(folder, storage)}
    elif summary.state != "running":
        commands = {"Continue with": continue_command(again)}
    # an option a line: MLflow's page grows as wide as the longest one
    shown = {label: shlex.join(command).replace(" --", " \\\n  --") for label, command in commands.items()}
    lines = [f"{label}:\n\n```\n{command}\n```" for label, command in shown.items()]
    machine = f"Machine: {summary.machine}. Version {summary.version}."
    return "\n\n".join(text for text in (state, warnings, *notes, *lines, machine) if text)


def end_abandoned(runs: Path, store: TrackingStore) -> list[str]:
    """Mark runs that MLflow shows as running, but that have no process, as killed; return their names.

    Those that had ended when they were killed get the status of their end. Only runs of this folder are changed.
    TrackingError if MLflow does not answer.
    """
    abandoned = []
    for name in store.running():
        folder = runs / name
        if not (folder / LOCK_FILE).is_file() or is_locked(folder):
            continue
        try:
            store.send_left(name)
            summary = RunSummary.read(folder)
        except TrackingError:
            raise
        except (ValueError, OSError) as error:  # a damaged run: the others are shown all the same
            _logger.warning("%s: %s", name, error)
            summary = None
        if summary is not None and summary.state == "running":
            summary.state = "interrupted"
        status = _STATUSES.get(summary.state, _KILLED) if summary else _KILLED
        store.kill(name, description(summary, folder) if summary else None, status=status)
        abandoned.append(name)
    return abandoned
