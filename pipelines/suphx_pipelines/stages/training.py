"""What the stages that train have in common: a progress bar, and a stop that has saved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from suphx.selfplay.agents.checkpoint_folder import find_checkpoints
from suphx.training.trainer import StoppedError
from suphx_pipelines.runs.stage import Interrupted, StageContext
from suphx_platform.console.console import Console
from suphx_platform.console.progress import Progress
from suphx_platform.console.stop_request import StopRequest

PERCENT = 100


def log_checkpoint(context: StageContext[Any], nets: Path, step: int, game: str) -> str:
    """Make the nets in a folder, after ``step`` of a stage that continues, a model of MLflow; return its key."""
    files = {path.name: path for path in find_checkpoints(nets, game=game)}
    return context.tracker.log_model(f"{context.folder.name}-{step}", files, step=step, has_code=False)


class StageWatch(StopRequest):
    """Consumes: the progress of a training. Produces: the progress bar, messages, and requests to stop."""

    def __init__(self, console: Console, bar: Progress, name: str, note: str, unit: str) -> None:
        """``name``: of the training; ``note``: what the bar shows until ``note`` is set to something else; ``unit``:
        what the training counts."""
        super().__init__()
        self.name, self.note, self._unit = name, note, unit
        self._console, self.bar = console, bar
        self._share = 0.0

    def phase(self, text: str) -> None:
        """Show ``text`` until the next step."""
        self.bar.reach(PERCENT * self._share, text)

    def resumed(self, step: int, share_done: float) -> None:
        """Say where the training continues."""
        self._console.say(f"{self.name}: continuing from {self._unit} {step:,}")
        self._share = share_done
        self.bar.resume(PERCENT * share_done)

    def progress(self, share_done: float) -> None:
        """Show the share and the note."""
        self._share = share_done
        self.bar.reach(PERCENT * share_done, self.note)


@contextmanager
def training(
    context: StageContext[Any], name: str, note: str, *, unit: str = "step", state: Path | None = None
) -> Iterator[StageWatch]:
    """Show the progress of the training in the block; a stop of it becomes ``Interrupted``.

    ``state``: the file that it saves; if it is not there, a plain KeyboardInterrupt says that nothing is saved.
    """
    with context.console.progress("%", PERCENT, name=name, note=note) as bar:
        try:
            yield StageWatch(context.console, bar, name, note, unit)
        except StoppedError as stopped:
            if state is not None and not state.is_file():
                raise KeyboardInterrupt from stopped
            raise Interrupted(f"{unit} {stopped.step:,} of {name}") from stopped
