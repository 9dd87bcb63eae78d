"""The page of a run in MLflow: headline figures, a description with the verdict, the report and the log."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from suphx_pipelines.headline import headline, verdict_figures
from suphx_pipelines.run_journal import LOG_FILE
from suphx_pipelines.run_summary import RunState, RunSummary
from suphx_pipelines.verdict import Verdict
from suphx_platform.tracking import Tracker

_REPORT = Path("report") / "report.html"
_VALUES_IN_A_POD = "KUBERNETES_SERVICE_HOST"


class RunPage:
    """Consumes: what happens to a run. Produces: metrics, tags, files and the description of its run in MLflow.

    >>> page = RunPage(tracker, folder, summary)
    >>> with page.shown():
    ...     page.add_stage("evaluation", {"paired_difference": -0.1})
    ...     page.add_verdict(verdict)
    """

    def __init__(self, tracker: Tracker, folder: Path, summary: RunSummary) -> None:
        """``summary`` is read whenever the page changes: the caller keeps it up to date."""
        self._tracker = tracker
        self._folder = folder
        self._summary = summary

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the run as running while the block runs, then how it ended."""
        self._tracker.set_tags(_source_tags(self._summary))
        self._show("running")
        try:
            yield
        except KeyboardInterrupt:
            self._end("interrupted")
            raise
        except BaseException as error:
            self._end("failed", " ".join(str(error).split()) or type(error).__name__)
            raise
        self._end("finished")

    def add_stage(self, name: str, metrics: Mapping[str, float]) -> None:
        """Add the headline figures of a finished stage."""
        figures = headline(name, metrics)
        if figures:
            self._tracker.log_metrics(figures)

    def add_verdict(self, verdict: Verdict) -> None:
        """Add what came out of the run."""
        self._tracker.set_tags({"suphx.outcome": verdict.outcome})
        figures = verdict_figures(verdict)
        if figures:
            self._tracker.log_metrics(figures)

    def add_records(self, source: Path | None, digest: str, metrics: Mapping[str, float]) -> None:
        """Name the games that the run learns from; ``source``: None if it has played them itself."""
        counts = {name: int(metrics[name]) for name in ("games", "kyoku", "decisions") if name in metrics}
        name = source.name if source else "games played by the baseline"
        place = (source or self._folder / "records").resolve().as_uri()
        self._tracker.log_dataset(name, digest, source=place, profile=counts)

    def _end(self, state: RunState, error: str | None = None) -> None:
        self._tracker.log_metrics({"seconds": self._summary.seconds, "warnings": len(self._summary.warnings)})
        self._show(state, error)
        for path in (self._folder / _REPORT, self._folder / LOG_FILE):
            if path.is_file():
                self._tracker.log_artifact(path)

    def _show(self, state: RunState, error: str | None = None) -> None:
        self._tracker.describe(description(self._summary, state, self._folder, error))


def description(summary: RunSummary, state: RunState, folder: Path, error: str | None = None) -> str:
    """Return what the page says about a run in this ``state``, in Markdown."""
    again = shlex.join(summary.command)
    texts = [_state_text(summary, state, error)]
    texts += [f"- Warning: {warning}" for warning in summary.warnings]
    if state == "finished":
        runs = [] if folder.parent == Path("runs") else ["--runs", str(folder.parent)]
        commands = [
            ("Command", again),
            ("This page", shlex.join(["suphx", "ui", summary.run_id, *runs])),
            ("Figures in the terminal", shlex.join(["suphx", "runs", "show", summary.run_id, *runs])),
        ]
    else:
        commands = [("Continue with" if state != "running" else "Command", again)]
    lines = [f"{label}:\n\n```\n{command}\n```" for label, command in commands]
    return "\n\n".join([*texts, *lines, f"Machine: {summary.machine}. Suphx {summary.version}."])


def _state_text(summary: RunSummary, state: RunState, error: str | None) -> str:
    if state == "finished":
        report = " The report is under Artifacts: `report.html`."
        return f"**{summary.verdict or 'All stages are finished.'}**{report}"
    done = sum(stage.status in ("finished", "kept", "reused") for stage in summary.stages.values())
    stages = f"{done} of {len(summary.stages)} stages are finished."
    if state == "failed":
        return f"**Failed: {error}** {stages}"
    return f"**{'Running' if state == 'running' else 'Stopped'}.** {stages}"


def _source_tags(summary: RunSummary) -> dict[str, str]:
    """Return MLflow's own tags of where a run comes from."""
    is_in_a_pod = _VALUES_IN_A_POD in os.environ
    return {
        "mlflow.source.name": shlex.join(summary.command),
        "mlflow.source.type": "JOB" if is_in_a_pod else "LOCAL",
        "suphx.recipe": summary.recipe,
        "suphx.machine": summary.machine,
    }
