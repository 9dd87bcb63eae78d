"""What watches a training, and what the training raises when its watch wants it to stop."""

from __future__ import annotations

METRICS_FILE = "metrics.json"


class TrainingWatch:
    """Callbacks of a training. This base class ignores all messages and never stops the training."""

    def phase(self, text: str) -> None:
        """Called when a phase begins, such as ``validation``."""

    def resumed(self, step: int, share_done: float) -> None:
        """Called when the training resumes from a saved state."""

    def progress(self, share_done: float) -> None:
        """Called after every step; ``share_done``: 0 to 1."""

    def is_stopping(self) -> bool:
        """Return whether to save the state and stop the training."""
        return False


class StoppedError(Exception):
    """A training was asked to stop; its last state, at ``step``, is saved, unless there was none to save."""

    def __init__(self, step: int) -> None:
        super().__init__(f"the training was stopped at step {step}")
        self.step = step


class PartAwayError(Exception):
    """A training is to stop while a process is away for which it would wait, perhaps as long as no node has room for
    it; the text names it.
    """
