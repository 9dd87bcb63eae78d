"""What a run leaves about itself while it works: ``run.json`` and ``run.log`` in its folder."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from suphx.credentials import without_credentials
from suphx_pipelines.engine.provenance import environment, git_commit
from suphx_pipelines.summary.run_summary import (
    RunState,
    RunSummary,
    StageState,
    StageSummary,
    command_line,
    machine_text,
    page_command,
)
from suphx_platform.console.closed_pipe import is_lost_output
from suphx_platform.console.console import Console

if TYPE_CHECKING:
    from suphx_pipelines.summary.verdict import Verdict

LOG_FILE = "run.log"
_FINISHED: tuple[StageState, ...] = ("finished", "kept", "reused")

FindVerdict = Callable[[Mapping[str, Mapping[str, float]]], "Verdict"]
"""Stage name -> metrics, to the verdict on the run."""


class RunJournal:
    """Consumes: what happens to a run. Produces: its summary and its log. Waits for: nothing.

    >>> journal = RunJournal(folder, "laptop-1f2e3d4c5b", "laptop", ["records", "report"], console)
    >>> with journal.kept():
    ...     with journal.stage("records"):
    ...         work()
    ...     journal.end_stage("records", "finished", [])
    """

    def __init__(self, folder: Path, run_id: str, recipe: str, stages: Sequence[str], console: Console) -> None:
        self._folder = folder
        self._console = console
        self._started_at = time.monotonic()
        before = RunSummary.read(folder)
        self._seconds_before = before.seconds if before else 0.0
        known = before.stages if before else {}
        self.summary = RunSummary(
            run_id=run_id,
            recipe=recipe,
            command=command_line(),
            state="running",
            started=before.started if before else datetime.now().astimezone().isoformat(timespec="seconds"),
            seconds=self._seconds_before,
            stages={name: known.get(name, StageSummary()) for name in stages},
            machine=machine_text(),
            version=environment()["suphx"],
            commit=git_commit(),
        )

    @property
    def is_continued(self) -> bool:
        """Tell whether an earlier sitting has begun the run."""
        return self._seconds_before > 0

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep the log and the summary while the block runs; the way in which it ends becomes the run's state."""
        with self._console.log_to(self._folder / LOG_FILE):
            self._write()
            self._console.detail(f"command: {shlex.join(self.summary.command)}")
            facts = {**environment(), "machine": self.summary.machine}
            self._console.detail(", ".join(f"{name} {value}" for name, value in facts.items()))
            try:
                yield
            except KeyboardInterrupt:
                self._end("interrupted")
                raise
            except BaseException as error:
                if is_lost_output(error):
                    self._end("interrupted")
                else:
                    text = without_credentials(" ".join(str(error).split()))
                    self._end("failed", text or type(error).__name__)
                raise
            self._end("finished")

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time of the block for the stage."""
        summary = self.summary.stages[name]
        before, started = summary.seconds, time.monotonic()
        summary.status, summary.warnings = "running", []
        self._write()
        try:
            yield
        finally:
            summary.seconds = round(before + time.monotonic() - started, 3)

    def end_stage(self, name: str, status: StageState, warnings: Sequence[str]) -> None:
        """Note how a stage was finished, and what is wrong with its result."""
        summary = self.summary.stages[name]
        summary.status, summary.warnings = status, list(warnings)
        self._write()

    def set_started(self, seconds: float) -> None:
        """Note that the run was begun at this time, in seconds since 1970, if that is earlier than is known here."""
        if seconds < datetime.fromisoformat(self.summary.started).timestamp():
            self.summary.started = datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")

    def set_tracking_page(self, page: str) -> None:
        """Note where the run's page in MLflow is; ``page``: its address, empty if only a command opens it."""
        self.summary.tracking_page = page or shlex.join(page_command(self.summary.run_id, self._folder))

    def set_verdict(self, verdict: Verdict) -> None:
        """Note what came out of the run."""
        self.summary.verdict, self.summary.outcome = verdict.sentence, verdict.outcome

    def progress_text(self) -> str:
        """Return how many stages are finished, such as ``3 of 9 stages are finished``."""
        finished = sum(stage.status in _FINISHED for stage in self.summary.stages.values())
        return f"{finished} of {len(self.summary.stages)} stages are finished"

    def _end(self, state: RunState, error: str | None = None) -> None:
        self.summary.state = state
        self.summary.error = error
        if error is not None:
            self._console.detail(f"failed: {error}")
        self._write()

    def _write(self) -> None:
        self.summary.seconds = round(self._seconds_before + time.monotonic() - self._started_at, 3)
        self.summary.write(self._folder)
