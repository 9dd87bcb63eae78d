"""Figures as event files of TensorBoard: the same as MLflow gets, in a folder of the run.

>>> events = EventFiles(Path("runs/laptop-1/tensorboard"))
>>> events.add("reinforcement", {"loss": 1.5}, step=10)
>>> events.close()
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from suphx.extras import need

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

FOLDER = "tensorboard"
"""In that of a run: ``tensorboard --logdir runs`` shows all runs."""


class EventFiles:
    """Consumes: figures. Produces: event files, a folder for each stage, and one for the run itself."""

    def __init__(self, folder: Path) -> None:
        """ModuleNotFoundError, which names the package, without tensorboard."""
        need("torch", "tensorboard")
        self._folder = folder
        self._writers: dict[str, SummaryWriter] = {}
        self._lock = Lock()

    def add(self, stage: str, figures: Mapping[str, float], step: int, *, is_curve: bool = False) -> None:
        """Write figures of a stage (empty: of the run) at ``step``.

        With the first point of a curve, TensorBoard forgets the points from its step on that an earlier process has
        written: a run that continues repeats them.
        """
        with self._lock:  # system metrics have a thread of their own
            if stage not in self._writers:
                from torch.utils.tensorboard import SummaryWriter

                start = step if is_curve else None
                self._writers[stage] = SummaryWriter(str(self._folder / stage), purge_step=start)
            for name, value in figures.items():
                self._writers[stage].add_scalar(name, value, step)

    def close(self) -> None:
        """Write what is in memory."""
        with self._lock:
            while self._writers:
                self._writers.popitem()[1].close()
