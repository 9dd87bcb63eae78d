"""PyPI ``douzero``'s own trainer on CPU cores for a given time: ``python -m … FOLDER SECONDS ACTORS``.

The weights that its learner has when the time is over are ``FOLDER/<seat>.pt``; ``FOLDER/frames.txt`` is the number of
moves that it has learned from. All settings are its defaults, among them batches of 32 x 100 = 3,200 moves, with the
share of games won as the goal.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import torch
from douzero.dmc import dmc
from douzero.dmc.arguments import parser


class _Recorder:
    """Knows the models that the trainer makes, the learner's last, and counts what it learns from."""

    def __init__(self) -> None:
        self.models: list[Any] = []
        self.frames = 0
        self.learns = threading.RLock()
        self._model, self._learn = dmc.Model, dmc.learn

    def new_model(self, device: Any = 0) -> Any:
        self.models.append(self._model(device=device))
        return self.models[-1]

    def learn(self, position: str, models: Any, model: Any, batch: Any, *rest: Any) -> Any:
        with self.learns:
            found = self._learn(position, models, model, batch, *rest)
            self.frames += batch["target"].numel()
        return found

    def save(self, folder: Path) -> None:
        with self.learns:
            for position, model in self.models[-1].get_models().items():
                torch.save(model.state_dict(), folder / f"{position}.pt")
            (folder / "frames.txt").write_text(str(self.frames))


def _end(recorder: _Recorder, folder: Path, seconds: float) -> None:
    """Save and end this process with its actors when the time is over: the trainer itself has no such limit."""
    time.sleep(seconds)
    recorder.save(folder)
    for actor in multiprocessing.active_children():
        actor.kill()
    os._exit(0)


def train(folder: Path, seconds: float, num_actors: int) -> None:
    """Train until this process ends itself."""
    folder.mkdir(parents=True, exist_ok=True)
    recorder = _Recorder()
    dmc.Model, dmc.learn = recorder.new_model, recorder.learn
    flags = ["--actor_device_cpu", "--training_device", "cpu", "--objective", "wp", "--disable_checkpoint"]
    arguments = parser.parse_args([*flags, "--num_actors", str(num_actors), "--savedir", str(folder / "log")])
    threading.Thread(target=_end, args=(recorder, folder, seconds), daemon=True).start()
    dmc.train(arguments)


if __name__ == "__main__":
    train(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
