"""A training for the storage stress: it saves its state again and again, and is killed and started again.

``python -m tests.suphx_platform.storage.stressed_training CONFIG.json FOLDER UNTIL``: trains in FOLDER until the time
UNTIL (seconds since 1970) and appends a line to ``FOLDER.jsonl`` for each save. The files of a step follow from its
number, so that everybody can tell whether a state is whole.
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
from suphx_platform.storage.bucket import PART_BYTES
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.storage.upload_queue import UploadQueue

NAME = "run-1/reinforcement"
SIZES = {"state.safetensors": 2 * PART_BYTES + 1000, "nets/discard.safetensors": 300_000}
_SAVE_SECONDS = 1.0


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


def train(storage: Storage, folder: Path, until: float) -> None:
    """Continue from the storage, as another machine would, and save every step."""
    shutil.rmtree(folder, ignore_errors=True)
    log = folder.with_suffix(".jsonl")
    step = _resume(storage, folder, until)
    _note(log, resumed=step)
    with UploadQueue(storage) as uploads:
        while time.time() < until:
            step += 1
            time.sleep(_SAVE_SECONDS)
            for name in SIZES:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                write_atomically(folder / name, [content(step, name)])
            write_atomically(folder / "step", [str(step).encode()])
            began = time.monotonic()
            uploads.save(NAME, folder, number=step)
            _note(log, saved=step, seconds=time.monotonic() - began)


def _resume(storage: Storage, folder: Path, until: float) -> int:
    """Load the newest state, however often the storage must be asked, as `--wait-hours` does."""
    while True:
        try:
            found = storage.load_newest(NAME, folder)
            return 0 if found is None else check(folder)
        except OSError:
            if time.time() > until:
                raise
            time.sleep(0.5)


def _note(log: Path, **values: Any) -> None:
    with log.open("a") as file:
        file.write(json.dumps(values) + "\n")


if __name__ == "__main__":
    settings = json.loads(Path(sys.argv[1]).read_text())
    train(Storage(StorageConfig(**settings)), Path(sys.argv[2]), float(sys.argv[3]))
