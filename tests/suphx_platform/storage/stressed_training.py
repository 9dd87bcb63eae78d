"""A training for the storage stress: it saves its state again and again, and is killed and started again.

``python -m tests.suphx_platform.storage.stressed_training CONFIG.json FOLDER UNTIL``: trains in FOLDER until the time
UNTIL (seconds since 1970) and appends a line to ``FOLDER.steps.jsonl`` for each step. The files of a step follow from
its number, so that everybody can tell whether a state is whole.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from suphx.atomic_file import write_atomically
from suphx_platform.storage.objects import PART_BYTES
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.storage.upload_queue import UploadQueue

NAME = "run-1/reinforcement"
SIZES = {
    "state.safetensors": 2 * PART_BYTES + 1000,
    "nets/discard.safetensors": 300_000,
    "nets/chow.safetensors": 70_000,
}
STEP_SECONDS = 0.05
_SAVE_EVERY = 20


def content(step: int, name: str) -> bytes:
    """Return the bytes of a file after ``step`` steps."""
    seed = np.frombuffer(f"{step} {name}".encode(), np.uint8)
    return np.random.default_rng(seed).bytes(SIZES[name])


def check(folder: Path) -> int:
    """Return the step whose state is in ``folder``; ValueError if it is not whole."""
    step = int((folder / "step").read_text())
    for name in SIZES:
        if (folder / name).read_bytes() != content(step, name):
            raise ValueError(f"{name} is not that of step {step}")
    return step


def write(folder: Path, step: int) -> None:
    """Replace the state by that of ``step``."""
    for name in SIZES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / name, [content(step, name)])
    write_atomically(folder / "step", [str(step).encode()])


def train(storage: Storage, folder: Path, until: float) -> None:
    """Continue from the storage, as another machine would, and save every ``_SAVE_EVERY`` steps."""
    shutil.rmtree(folder, ignore_errors=True)
    log = folder.with_name(f"{folder.name}.steps.jsonl")
    note(log, event="start")
    step = _resume(storage, folder, until)
    note(log, event="resumed", step=step)
    folder.mkdir(exist_ok=True)
    with UploadQueue(storage) as uploads:
        while time.time() < until:
            step += 1
            time.sleep(STEP_SECONDS)
            began = time.monotonic()
            if step % _SAVE_EVERY == 0:
                write(folder, step)
                wrote = time.monotonic()
                uploads.save(NAME, folder, number=step)
                note(log, event="save", step=step, seconds=time.monotonic() - wrote)
            note(log, event="step", step=step, seconds=time.monotonic() - began)
    note(log, event="end", step=step)


def _resume(storage: Storage, folder: Path, until: float) -> int:
    """Load the newest state, however often the storage must be asked, as `--wait-hours` does."""
    while True:
        try:
            found = storage.load_newest(NAME, folder)
            break
        except OSError:
            if time.time() > until:
                raise
            time.sleep(0.5)
    return 0 if found is None else check(folder)


def note(log: Path, **values: Any) -> None:
    """Append a line to the log of the training."""
    with log.open("a") as file:
        file.write(json.dumps({"time": time.time(), **values}) + "\n")


if __name__ == "__main__":
    settings = json.loads(Path(sys.argv[1]).read_text())
    train(Storage(StorageConfig(**settings)), Path(sys.argv[2]), float(sys.argv[3]))
