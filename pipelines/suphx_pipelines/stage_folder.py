"""A stage's folder on disk: when it is finished, when it may continue, and when it must start over.

``started.json`` holds the digest of the inputs that the files in the folder were made from; ``done.json`` is written
last of all. Both appear whole or not at all, so that a kill at any moment leaves one of three clear states.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from suphx_pipelines.json_file import read_json, write_json
from suphx_platform.linked_copy import copy_linked

DONE = "done.json"
STARTED = "started.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The content of ``done.json``."""

    digest: str
    """Of all inputs."""
    inputs: Mapping[str, Any]
    """What the digest was made of: recipe values, digests of upstream stages and of record files, version."""
    metrics: Mapping[str, float]
    seconds: float
    """Of work, over all attempts only the last."""
    run_id: str
    """The run that did the work; another one's if the result was reused."""


def read_done(folder: Path, digest: str) -> Done | None:
    """Return what ``done.json`` says if the stage is finished with exactly these inputs, else None."""
    path = folder / DONE
    if not path.is_file():
        return None
    content = read_json(path)
    if set(content) != {field.name for field in fields(Done)} or content["digest"] != digest:
        return None  # other inputs, or another version of this program
    kinds = {"inputs": dict, "metrics": dict, "seconds": float | int, "run_id": str}
    wrong = [name for name, kind in kinds.items() if not isinstance(content[name], kind)]
    if wrong or not all(isinstance(value, float | int) for value in content["metrics"].values()):
        raise ValueError(f"{path} is damaged ({', '.join(wrong) or 'metrics'}): remove it and run again")
    return Done(**content)


def write_done(folder: Path, done: Done) -> None:
    """Mark the stage as finished: the last thing that is written."""
    write_json(folder / DONE, asdict(done))


def prepare(folder: Path, digest: str) -> bool:
    """Make the folder ready for work; tell whether an attempt with the same inputs left files, else it is emptied."""
    started = folder / STARTED
    if started.is_file() and read_json(started) == {"digest": digest}:
        return True
    _empty(folder)
    write_json(started, {"digest": digest})
    return False


def find_finished(runs: Path, stage_name: str, digest: str) -> tuple[Path, Done] | None:
    """Return the stage's folder in any run where it is finished with exactly these inputs, or None."""
    for path in sorted(runs.glob(f"*/{stage_name}/{DONE}")):
        done = read_done(path.parent, digest)
        if done is not None:
            return path.parent, done
    return None


def copy_result(source: Path, target: Path) -> None:
    """Give ``target`` the files of a finished stage, as hard links where the disk allows; ``done.json`` is left out."""
    _empty(target)
    copy_linked(source, target, DONE, STARTED, ".*")


def _empty(folder: Path) -> None:
    for name in (DONE, STARTED):  # first, so that a kill in between leaves nothing that looks whole
        (folder / name).unlink(missing_ok=True)
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
