"""The runs in a folder of runs, read from what they leave there: ``run.json``, ``recipe.toml`` and the stages.

>>> for entry in list_runs(Path("runs")):
...     print(entry.run_id, entry.state, entry.verdict)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from suphx.suggestion import did_you_mean
from suphx_pipelines.engine.json_file import read_json
from suphx_pipelines.engine.stage_folder import DONE, REPORT_NAME
from suphx_pipelines.recipe.recipe_file import flatten
from suphx_pipelines.recipe.toml_text import read_toml
from suphx_pipelines.runs.named_run import RECIPE_FILE
from suphx_pipelines.runs.run_lock import is_locked
from suphx_pipelines.summary.run_summary import RUN_FILE, RunState, RunSummary, StageSummary

REPORT_FOLDER = "report"
_HEADLINES = (
    "accuracy", "loss", "average_placement", "paired_difference", "start_difference", "difference_to_start", "win_rate",
    "deal_in_rate", "stable_rank", "margin_to_", "games", "hanchans", "decks", "updates",
)  # fmt: skip
_MEANS, _ENDS = ("share", "points"), ("_low", "_high")
"""Figures of a match of two sides, which have an interval: other shares say nothing of how good a result is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry:
    """A run, as its folder shows it."""

    folder: Path
    recipe: str
    """The recipe's name."""
    state: RunState
    """``running`` only while a process holds the run's lock."""
    started: str
    """ISO 8601 with the time zone."""
    seconds: float
    verdict: str | None = None
    error: str | None = None
    command: tuple[str, ...] = ()
    """The command line that continues the run; empty for a run without ``run.json``."""
    machine: str = ""
    stages: Mapping[str, StageSummary] = field(default_factory=dict)

    @property
    def run_id(self) -> str:
        """The name of the folder."""
        return self.folder.name

    @property
    def report(self) -> Path | None:
        """The report; None if the run has not written one."""
        path = self.folder / REPORT_FOLDER / REPORT_NAME
        return path if path.is_file() else None

    def to_json(self) -> dict[str, Any]:
        """Return the keys that scripts read."""
        return {
            "run_id": self.run_id,
            "recipe": self.recipe,
            "state": self.state,
            "verdict": self.verdict,
            "started": self.started,
            "seconds": self.seconds,
        }

    def settings(self) -> dict[str, Any]:
        """Return all keys of the run's recipe, ``a.b``; ValueError if its file is damaged."""
        path = self.folder / RECIPE_FILE
        try:
            return flatten(read_toml(path))
        except ValueError as error:
            raise ValueError(f"the run is damaged: {error}") from error

    def metrics(self) -> dict[str, dict[str, float]]:
        """Return the metrics of the finished stages, stage name -> metric -> value, in the order of the stages."""
        found = {path.parent.relative_to(self.folder).as_posix(): path for path in _done_files(self.folder)}
        order = [*(name for name in self.stages if name in found), *(name for name in found if name not in self.stages)]
        return {name: dict(read_json(found[name])["metrics"]) for name in order}


def headlines(metrics: Mapping[str, float]) -> dict[str, float]:
    """Return the metrics of a stage for its line in a list: results and amounts, such as games and updates."""
    return {name: value for name, value in metrics.items() if name.startswith(_HEADLINES) or _is_mean(name, metrics)}


def _is_mean(name: str, metrics: Mapping[str, float]) -> bool:
    """Tell whether a metric is a share of games won or points, or an end of the interval of one."""
    mean = name.removesuffix(_ENDS[0]).removesuffix(_ENDS[1])
    return mean.endswith(_MEANS) and {mean, *(f"{mean}{end}" for end in _ENDS)} <= metrics.keys()


def list_runs(runs: Path) -> list[RunEntry]:
    """Return all runs in the folder ``runs``, newest first; ValueError if there is no such folder."""
    if not runs.is_dir():
        raise ValueError(f"{runs}: no such folder of runs: name yours with --runs DIR, or start one with `suphx run`")
    return sorted((read_run(folder) for folder in _run_folders(runs)), key=lambda entry: entry.started, reverse=True)


def run_ids(runs: Path) -> list[str]:
    """Return the ids of all runs in the folder ``runs``, by name, without reading them; none without such a folder."""
    return [folder.name for folder in _run_folders(runs)] if runs.is_dir() else []


def find_run(runs: Path, name: str) -> RunEntry:
    """Return the run called ``name``, or the one in the folder ``name``; ValueError with the closest name if none."""
    for folder in (runs / name, Path(name)):
        if name and _is_run(folder):
            return read_run(folder)
    entries = [entry.run_id for entry in list_runs(runs)]
    hint = did_you_mean(name, entries) or "; "
    raise ValueError(f"{name}: no such run in {runs}: {hint}`suphx runs list` shows all".replace(": ; ", "; "))


def read_run(folder: Path) -> RunEntry:
    """Return the run in ``folder``; ValueError if a file in it is damaged."""
    summary = RunSummary.read(folder)
    is_running = is_locked(folder)
    if summary is None:
        return _read_without_summary(folder, is_running=is_running)
    state = summary.state
    if is_running:
        state = "running"
    elif state == "running":  # its process was killed
        state = "interrupted"
    return RunEntry(
        folder=folder,
        recipe=summary.recipe,
        state=state,
        started=summary.started,
        seconds=summary.seconds,
        verdict=summary.verdict,
        error=summary.error,
        command=tuple(summary.command),
        machine=summary.machine,
        stages=summary.stages,
    )


def _read_without_summary(folder: Path, *, is_running: bool) -> RunEntry:
    """Return a run of a version that wrote no ``run.json``, or a tournament."""
    path = folder / RECIPE_FILE
    done = sorted(_done_files(folder), key=lambda each: each.stat().st_mtime)
    stages = {
        each.parent.relative_to(folder).as_posix(): StageSummary(
            status="finished", seconds=float(read_json(each)["seconds"])
        )
        for each in done
    }
    state: RunState = "running" if is_running else "finished" if REPORT_FOLDER in stages else "interrupted"
    started = min(each.stat().st_mtime for each in (path, *done))
    return RunEntry(
        folder=folder,
        recipe=str(read_toml(path).get("name", folder.name)),
        state=state,
        started=datetime.fromtimestamp(started).astimezone().isoformat(timespec="seconds"),
        seconds=sum(stage.seconds for stage in stages.values()),
        stages=stages,
    )


def _done_files(folder: Path) -> Iterator[Path]:
    """Yield the files of finished stages, without the copies in work folders, such as ``.uploads``."""
    for path in folder.rglob(DONE):
        if not any(part.startswith(".") for part in path.parent.relative_to(folder).parts):
            yield path


def _run_folders(runs: Path) -> Iterator[Path]:
    return (folder for folder in sorted(runs.iterdir()) if _is_run(folder))


def _is_run(folder: Path) -> bool:
    return (folder / RUN_FILE).is_file() or (folder / RECIPE_FILE).is_file()
