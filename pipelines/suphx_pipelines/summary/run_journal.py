"""What a run leaves about itself while it works: ``run.json`` and ``run.log`` in its folder."""

from __future__ import annotations

import shlex
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
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
from suphx_platform.console.console import Console, is_lost_output

if TYPE_CHECKING:
    from suphx_pipelines.summary.verdict import Verdict

_PURPOSES = {
    "records": "Reads the game records, or plays games of a scripted agent, for the nets to learn from.",
    "supervised": "Trains one net on the decisions of the games. *Model metrics* has loss and accuracy over the steps.",
    "initial_agent": "Copies the nets of the agent that the run begins with.",
    "learning_curve": "Trains a net on a part of the games, to measure the effect of more games.",
    "ablation": "Trains a net with the planes of one encoder, to measure the effect of the planes.",
    "evaluation": "Plays a match of the nets so far against an opponent on shared walls.",
    "playouts": "Learns from playouts: several actions of one decision, played on the same hidden tiles.",
    "reinforcement": "Improves nets by self-play. *Model metrics* has strength, entropy and throughput.",
    "oracle": "Self-play of nets that see hidden tiles (oracle guiding).",
    "oracle_decay": "Self-play that sees fewer and fewer hidden tiles, and at last none.",
    "oracle_distillation": "Self-play that stays near a teacher that sees hidden tiles.",
    "entropy_study": "Self-play with a fixed coefficient of the entropy, for comparison.",
    "reward_predictor": "Trains the net that predicts the reward of a game from its kyokus so far.",
    "agent_comparison": "Trains or plays the agents of the paper's figure 8 beside each other.",
    "sample_game": "Plays games of the newest or strongest nets; `game.html` under *Artifacts* shows them.",
    "report": "Writes the report: `report.html` and its pictures under *Artifacts*.",
    "learning": "Learns by deep Monte-Carlo self-play.",
    "pool": "Finds the agents of the night: those of the recipe, the newest nets of all runs and the champion.",
    "leaderboard": "Plays games between all agents of the pool and rates them over all nights.",
    "decision": "Plays the best new nets against the champion until it is clear who is stronger.",
    "promotion": "Registers the nets that have won against the champion as the new one.",
    "match": "Plays the finished nets against the opponents on shared decks.",
}
"""First part of the stage's name -> what it does."""


def stage_note(name: str, run_id: str) -> str:
    """Return the description of stage ``name``, in Markdown."""
    purpose = _PURPOSES.get(name.partition("/")[0], "")
    place = (
        f"Stage `{name}` of the run `{run_id}`, whose description has the verdict and whose artifacts have the report."
    )
    return "\n\n".join(text for text in (purpose, place) if text)


LOG_FILE = "run.log"
_REFRESH_SECONDS = 120.0
"""So much of the time spent is lost, at most, when the process is killed."""
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

    def __init__(
        self,
        folder: Path,
        run_id: str,
        recipe: str,
        stages: Sequence[str],
        console: Console,
        *,
        refresh_seconds: float = _REFRESH_SECONDS,
    ) -> None:
        """``refresh_seconds``: how often the summary is written while a stage works, with the time spent so far."""
        self._folder = folder
        self._console = console
        self._refresh_seconds = refresh_seconds
        self._lock = threading.Lock()
        self._running: tuple[StageSummary, float] | None = None
        """The stage that works, and when it would have begun if it had worked all its time without a pause."""
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
                with self._refreshed():
                    yield
            except BaseException as error:
                with suppress(OSError):  # such as a folder that is gone: what has ended the run is more important
                    if isinstance(error, KeyboardInterrupt) or is_lost_output(error):
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
        self._running = summary, time.monotonic() - summary.seconds
        summary.status, summary.warnings = "running", []
        self._write()
        try:
            yield
        finally:
            self._count()
            self._running = None

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

    @contextmanager
    def _refreshed(self) -> Iterator[None]:
        """Write the summary now and then while the block runs, so that a killed run keeps the time spent on it."""
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
        """Note the time spent until now, on the run and on the stage that works."""
        now, running = time.monotonic(), self._running
        self.summary.seconds = round(self._seconds_before + now - self._started_at, 3)
        if running is not None:
            stage, begun = running
            stage.seconds = round(now - begun, 3)

    def _write(self) -> None:
        with self._lock:
            self._count()
            self.summary.write(self._folder)
