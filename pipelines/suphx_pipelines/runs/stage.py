"""What a stage is and what it is given: the nouns of the runner."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Generic, TypeVar

from suphx.atomic_file import write_atomically
from suphx.credentials import without_credentials
from suphx_pipelines.recipe.recipe_file import AnyRecipe
from suphx_platform.console.console import Console
from suphx_platform.storage.upload_queue import Save
from suphx_platform.tracking.tracking import Tracker

REPORT = "report"
NOTE_FILE = "note.md"
TRACKED_FOLDER = "mlflow"
"""Pages in the form that MLflow gets instead of those of the same name: it shows a page in a frame, where no link to
another file or page works."""


def write_note(folder: Path, text: str) -> None:
    """Keep ``text``, in Markdown and without the passwords of addresses, as the note of the stage in ``folder``."""
    write_atomically(folder / NOTE_FILE, [without_credentials(text).encode()])


def read_note(folder: Path) -> str:
    """Return the note of the stage in ``folder``; empty if it has none."""
    path = folder / NOTE_FILE
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


R = TypeVar("R", bound=AnyRecipe)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageContext(Generic[R]):
    """All that a stage may use. It writes into ``folder`` only, and reads the folders of the stages that it needs."""

    folder: Path
    """The stage's own folder. What a killed attempt with the same inputs left there is still there."""
    recipe: R
    upstream: Mapping[str, Path]
    """Stage name -> folder, for the stages that it needs."""
    records: Path | None
    tracker: Tracker
    console: Console
    seed: int
    """From the recipe's seed and the stage's name: 0 <= seed < 2**56."""
    storage_name: str
    """What the folder is called in the storage, if the run has one."""
    keep: Save
    """Has the folder stored as it is at this step, so that another machine can go on; nothing without a storage.
    Returns at once: files must be replaced, not changed in place. Raises OSError if nothing could be stored for
    ``storage.max_outage_hours``."""
    keep_best: Callable[[int, Path, float], None] | None = None
    """Has the nets in a folder stored that a match has measured: number, folder, strength (larger is better). The best
    ones stay (``storage.keep_best``). None if they are not wanted."""
    storage_figures: Callable[[], Mapping[str, float]] = dict
    """Returns what is watched of the storage: ``uploads_waiting``, ``storage_outage_seconds``; nothing without one."""
    warnings: list[str] = field(default_factory=list)
    """What is wrong with the stage's result."""

    def warn(self, text: str) -> None:
        """Warn that something is wrong with the stage's result; the run's summary and report show it too."""
        self.console.warn(text)
        text = without_credentials(text)
        if text not in self.warnings:
            self.warnings.append(text)


class Interrupted(KeyboardInterrupt):
    """A stage was asked to stop and has saved its state; the text says where, such as ``update 13``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage(Generic[R]):
    """One step of a pipeline. Its result is used until something changes that it declares here."""

    name: str
    """Also its folder in the run; slashes make folders: ``supervised/discard``."""
    run: Callable[[StageContext[R]], dict[str, float]]
    """Does the work and returns its metrics, which must be finite."""
    recipe_keys: tuple[str, ...] = ()
    """Keys or tables of the recipe that change the result, such as ``supervised.discard``. The seed always counts."""
    needs: tuple[str, ...] = ()
    reads_records: bool = False
    outside_files: Callable[[R], Sequence[Path]] | None = None
    """Returns the files outside of the run that it reads, such as nets that the recipe names: they are an input like
    its keys. Not asked if it reads records and the user gave some. Raises ValueError or OSError if files are missing; a
    result that was made with them is used all the same."""
    reads_newest: Callable[[R], bool] | None = None
    """Tells whether it copies what an address stands for at that time, such as an alias of the model registry. Then its
    result, and what follows from it, belongs to its run: it stays as it is there, and no other run reuses it."""
    artifacts: tuple[str, ...] = ()
    """Glob patterns in its folder: what is copied to MLflow at the end."""
    agent: str = ""
    """Folder, in that of the run, of the nets that its metrics are of: they become a model of MLflow, which gets the
    metrics too. Empty: there are no nets, or they see what is hidden."""
    check: Callable[[R], None] | None = None
    """Raises ValueError or OSError for what the stage would miss, such as a file that the recipe names. Called before
    the first stage of a run begins, if this one has no result yet."""
    is_summary: bool = False
    """It only shows results of its run, in seconds: run again when the code has changed, and never taken from another
    run."""


def report_stage(
    recipe: R, run: Callable[[StageContext[R]], dict[str, float]], needs: Sequence[str], artifacts: Sequence[str]
) -> Stage[R]:
    """Return the last stage of a run, which writes ``report.html`` and shows the whole recipe."""
    return Stage(
        name=REPORT,
        run=run,
        recipe_keys=tuple(each.name for each in fields(recipe)),
        needs=tuple(needs),
        artifacts=tuple(artifacts),
        is_summary=True,
    )


def stage_seed(seed: int, name: str) -> int:
    """Return the seed of a stage, 0 <= seed < 2**56, different for every name."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{name}".encode()).digest()[:7])
