"""The page of a run in MLflow: headline figures, a description with the verdict, the report and the log."""

from __future__ import annotations

import logging
import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from suphx.games.registry import DEFAULT_GAME, candidate_game, game_of_files
from suphx.printable_text import encodable
from suphx.selfplay.agents.checkpoint_folder import has_nets
from suphx_pipelines.recipe.agent_stages import AGENT_STAGES, MONTE_CARLO_STAGE, SUPERVISED_FOLDER
from suphx_pipelines.runs.run_list import headlines
from suphx_pipelines.runs.run_lock import LOCK_FILE, is_locked
from suphx_pipelines.runs.run_summary import (
    LOG_FILE,
    RUN_FILE,
    RunSummary,
    continue_command,
    nets_address,
    page_command,
    program_name,
)
from suphx_pipelines.runs.stage import TRACKED_FOLDER, read_note
from suphx_pipelines.runs.stage_folder import REPORT_NAME, Done
from suphx_pipelines.runs.verdict import Verdict
from suphx_platform.tracking.mlflow_client import TrackingError
from suphx_platform.tracking.tracking import Tracker, TrackingStore

_DEFAULT_OPPONENT = "ukeire"


def agent_commands(folder: Path, storage: str = "") -> dict[str, list[str]]:
    """Return what it does -> the command, for the nets in a run's folder; empty if it has none that can play."""
    nets, opponent = _last_nets(folder)
    program, agent = program_name(), nets_address(nets, folder, storage) if nets else ""
    if not agent:
        return {}
    return {
        "Play against its agent": [program, "play", "--agent", agent],
        "Play another match": [program, "evaluate", "--candidate", agent, "--opponent", opponent],
    }


def _last_nets(folder: Path) -> tuple[Path | None, str]:
    """Return the folder of the nets that the run made last, and a scripted agent to compare them with."""
    learned = folder / MONTE_CARLO_STAGE
    game = game_of_files(path.name for path in learned.iterdir()) if learned.is_dir() else None
    if game is not None and game != DEFAULT_GAME:
        return learned, candidate_game(game).agents[-1]
    folders = (folder / name for name in (*AGENT_STAGES, SUPERVISED_FOLDER))
    return next((each for each in folders if has_nets(each)), None), _DEFAULT_OPPONENT


def verdict_figures(verdict: Verdict) -> dict[str, float]:
    """Return the difference behind the verdict, whatever was measured; nothing if there was no match."""
    if verdict.difference is None or verdict.low is None or verdict.high is None:
        return {}
    return {
        "verdict/difference": verdict.difference,
        "verdict/difference_low": verdict.low,
        "verdict/difference_high": verdict.high,
        "verdict/hanchans": verdict.hanchans,
    }


_STORE_FOLDER = "store"
"""Of the games, in the stage of the records."""
_RECORDS, _REPORT = "records", Path("report") / REPORT_NAME
_SHOWN = ("*.html", "*.svg")
_LINE_LENGTH = 48
_SET_IN_PODS = "KUBERNETES_SERVICE_HOST"


class RunPage:
    """Consumes: the summary of a run, its finished stages. Produces: metrics, tags, files and a description in MLflow.

    >>> page = RunPage(tracker, folder, summary, records=None)
    >>> with page.shown():
    ...     page.add_stage("evaluation", done)
    ...     page.add_verdict(verdict)
    """

    def __init__(
        self, tracker: Tracker, folder: Path, summary: RunSummary, *, records: Path | None, storage: str = ""
    ) -> None:
        """``summary``: read at every change of the page; ``records``: None if the run plays the games itself.

        ``storage``: its address, if there is one.
        """
        self._tracker = tracker
        self._folder = folder
        self._summary = summary
        self._records = records
        self._storage = storage
        self._data: dict[str, float] = {}

    @contextmanager
    def shown(self) -> Iterator[Self]:
        """Describe the run while the block runs; at its end describe how it ended, and add report, log and summary."""
        self._tracker.set_tags(_source_tags(self._summary))
        self._describe()
        try:
            yield self
        finally:
            last = {"seconds": self._summary.seconds, "warnings": len(self._summary.warnings)}
            self._tracker.log_metrics({**self._data, **last})  # last: MLflow compares runs by the first metric
            self._describe()
            for path in (*self._shown_files(), self._folder / LOG_FILE, self._folder / RUN_FILE):
                if path.is_file():
                    self._tracker.log_artifact(path)

    def add_stage(self, name: str, done: Done) -> None:
        """Add the headline figures of a finished stage, and the games that the run learns from."""
        figures = {f"{name}/{figure}": value for figure, value in headlines(name, done.metrics).items()}
        if figures and name != _RECORDS:
            self._tracker.log_metrics(figures)
        if name == _RECORDS:
            self._data = figures
            counts = {key: int(done.metrics[key]) for key in ("games", "kyoku", "decisions") if key in done.metrics}
            games = encodable(self._records.name) if self._records else "games of the run"
            place = (self._records or self._folder / _RECORDS).resolve().as_uri()
            self._tracker.log_dataset(games, self._store_digest() or done.digest, source=place, profile=counts)
        self._describe()

    def add_verdict(self, verdict: Verdict) -> None:
        """Add the difference that the verdict is based on."""
        self._tracker.set_tags({"suphx.outcome": verdict.outcome})
        figures = verdict_figures(verdict)
        if figures:
            self._tracker.log_metrics(figures)

    def _shown_files(self) -> list[Path]:
        report = self._folder / _REPORT
        others = sorted(path for kind in _SHOWN for path in report.parent.glob(kind) if path != report)
        tracked = report.parent / TRACKED_FOLDER
        return [tracked / path.name if (tracked / path.name).is_file() else path for path in (report, *others)]

    def _store_digest(self) -> str | None:
        """Return the digest of the games that the run learns from; None if the stage has left no store."""
        from suphx.training.head_data import open_store  # slow to import

        store = self._folder / _RECORDS / _STORE_FOLDER
        return open_store(store).digest if store.is_dir() else None

    def _describe(self) -> None:
        self._tracker.describe(description(self._summary, self._folder, self._storage))


def description(summary: RunSummary, folder: Path, storage: str = "") -> str:
    """Return the description of the run in ``folder``, in Markdown: state, verdict, warnings, notes and commands."""
    notes = [read_note(folder / name) for name in summary.stages]
    warnings = "\n".join(f"- Warning: {warning}" for warning in summary.warnings)
    again = summary.command
    if summary.state == "running":
        commands = {"Command": again}
    elif summary.state != "finished":
        commands = {"Continue with": continue_command(again)}
    else:
        page = page_command(summary.run_id, folder)
        commands = {"Command": again, "Open this page": page, **agent_commands(folder, storage)}
    lines = [f"{label}:\n\n```\n{_in_short_lines(command)}\n```" for label, command in commands.items()]
    machine = f"Machine: {summary.machine}. Version {summary.version}."
    return "\n\n".join(text for text in (_state_text(summary), warnings, *notes, *lines, machine) if text)


def _state_text(summary: RunSummary) -> str:
    if summary.state == "finished":
        pages = "Under *Artifacts*: `report.html` is the report, the SVG files are its pictures."
        return f"**{summary.verdict or 'All stages are finished.'}** {pages}"
    finished = sum(stage.status in ("finished", "kept", "reused") for stage in summary.stages.values())
    stages = f"{finished} of {len(summary.stages)} stages are finished."
    error = (summary.error or "unknown error").rstrip(".")
    word = {"failed": f"Failed: {error}.", "interrupted": "Stopped."}.get(summary.state, "Running.")
    return f"**{word}** {stages}"


def _in_short_lines(command: Sequence[str]) -> str:
    """Return a command that a shell takes, in short lines: MLflow's page grows as wide as the longest one."""
    lines: list[str] = []
    is_value = False
    for word in map(shlex.quote, command):
        if lines and (is_value or len(lines[-1]) + len(word) < _LINE_LENGTH):
            lines[-1] += f" {word}"
        else:
            lines.append(word)
        is_value = word.startswith("--") and "=" not in word  # an option and its value are in one line
    return " \\\n  ".join(lines)


def _source_tags(summary: RunSummary) -> dict[str, str]:
    """Return the tags that MLflow shows as the source of the run, and names to search for."""
    return {
        "mlflow.source.name": " ".join([*summary.command[:2], summary.recipe]),  # MLflow shows what follows a slash
        "suphx.command": shlex.join(summary.command),
        "mlflow.source.type": "JOB" if _SET_IN_PODS in os.environ else "LOCAL",
        "suphx.recipe": summary.recipe,
        "suphx.machine": summary.machine,
    }


_KILLED = "KILLED"
_STATUSES = {"finished": "FINISHED", "failed": "FAILED"}
"""State of a run that had ended, but could not say so any more -> its status in MLflow."""

_logger = logging.getLogger(__name__)


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
