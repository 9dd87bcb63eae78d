"""What a person sees of a training in a stage: its share on the progress bar; and how the training is asked to stop."""

from __future__ import annotations

from suphx.training.loop.training_watch import TrainingWatch
from suphx_platform.console.console import Console, Progress
from suphx_platform.console.stop_request import StopRequest

PERCENT = 100


class StageWatch(TrainingWatch):
    """Consumes: the progress of a training. Produces: the progress bar, messages, and requests to stop.

    The bar is one of ``console.progress("%", PERCENT)``.
    """

    def __init__(self, console: Console, progress: Progress, stop: StopRequest, name: str, note: str) -> None:
        """``name``: of the training; ``note``: what the bar shows until ``note`` is set to something else."""
        self.name, self.note = name, note
        self._console, self._progress, self._stop = console, progress, stop
        self._share = 0.0

    def phase(self, text: str) -> None:
        """Show ``text`` until the next step."""
        self._progress.reach(PERCENT * self._share, text)

    def resumed(self, step: int, share_done: float) -> None:
        """Say where the training continues."""
        self._console.say(f"{self.name}: continuing from step {step:,}")
        self._share = share_done
        self._progress.resume(PERCENT * share_done)

    def progress(self, share_done: float) -> None:
        """Show the share and the note."""
        self._share = share_done
        self._progress.reach(PERCENT * share_done, self.note)

    def is_stopping(self) -> bool:
        """Return whether the process is asked to stop."""
        return self._stop.is_made
