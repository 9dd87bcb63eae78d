"""A stage's folder on disk: when it is finished, when it may continue, and when it must start over.

``started.json`` holds the inputs that the files in the folder were made from; ``done.json`` is written last of all.
Both appear whole or not at all, so that a kill at any moment leaves one of three clear states.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from suphx_pipelines.json_file import InvalidValueError, read_json, typed, write_json
from suphx_platform.storage.upload_queue import copy_linked

DONE = "done.json"
STARTED = "started.json"
REPORT_NAME = "report.html"
"""The page that the stage of a report writes into its folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The content of ``started.json``: what a stage's files are made from."""

    digest: str
    """Of all inputs; empty if it is of another format."""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """Recipe values, digests of upstream stages and of record files."""
    code: str = ""
    """``code_digest`` of the code; empty if several have worked on it."""
    commit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done(Started):
    """The content of ``done.json``."""

    metrics: Mapping[str, float]
    seconds: float
    """Of work, over all attempts only the last."""
    run_id: str
    """The run that did the work; another one's if the result was reused."""
    warnings: list[str] = field(default_factory=list)
    """What is wrong with the result."""


def read_done(folder: Path, digest: str | None = None) -> Done | None:
    """Return what ``done.json`` says if the stage is finished, and that with these inputs if ``digest`` is given."""
    path = folder / DONE
    try:
        return parse_done(read_json(path), path, digest) if path.is_file() else None
    except FileNotFoundError:  # it was removed at this very moment
        return None


def parse_done(content: Mapping[str, Any], path: Path, digest: str | None = None) -> Done | None:
    """Return the content of a ``done.json``; None if its format or its ``digest`` is another one."""
    named = {each.name for each in fields(Done)}
    if content.keys() | {"warnings"} != named or digest not in (None, content["digest"]):
        return None  # other inputs, or another version of this program
    try:
        return typed(Done, json.dumps(content).encode())
    except InvalidValueError as error:
        raise ValueError(f"{path} is damaged ({error.key}): remove it and run again") from error


def read_started(folder: Path) -> Started | None:
    """Return the inputs of the attempt that left files in the folder; None if there is none."""
    path = folder / STARTED
    return parse_started(read_json(path)) if path.is_file() else None


def parse_started(content: Mapping[str, Any]) -> Started:
    """Return the content of a ``started.json``; one without a digest if it is of another format."""
    try:
        return typed(Started, json.dumps(content).encode())
    except InvalidValueError:
        return Started(digest="")


def write_done(folder: Path, done: Done) -> None:
    """Mark the stage as finished: the last thing that is written."""
    write_json(folder / DONE, asdict(done))


def prepare(folder: Path, started: Started) -> bool:
    """Make the folder ready for work; tell whether the files of an earlier attempt are kept, else it is emptied."""
    before = read_started(folder)
    is_kept = before is not None and before.digest == started.digest
    if not is_kept:
        empty(folder)
    if before != started or not is_kept:
        write_json(folder / STARTED, asdict(started))
    return is_kept


def find_finished(
    runs: Path, stage_name: str, digest: str, code: str, upstream: Mapping[str, Done | None] | None = None
) -> tuple[Path, Done] | None:
    """Return the stage's folder in any run where it is finished with exactly these inputs and this code, or None.

    ``upstream``: what it must have been made from. Equal inputs do not make equal nets if time ended their training.
    """
    for path in sorted(runs.glob(f"*/{stage_name}/{DONE}")):
        run = path.parents[1 + stage_name.count("/")]
        with suppress(ValueError, OSError):  # damaged, or another user's
            done = read_done(path.parent, digest)
            if done is None or done.code != code:
                continue
            if all(read_done(run / name) == own for name, own in (upstream or {}).items()):
                return path.parent, done
    return None


def copy_result(source: Path, target: Path, done: Done) -> bool:
    """Give ``target`` the files of a finished stage, as hard links where the disk allows; ``done.json`` is left out.

    ``done``: what ``source`` has finished. False, with ``target`` as it was, if the source was removed or made again
    meanwhile; OSError, with ``target`` as it was, if it cannot be copied.
    """
    space = target.with_name(f".{target.name}.reused")
    empty(space)
    try:
        copy_linked(source, space, DONE, STARTED, ".*")
        is_whole = read_done(source) == done
    except OSError:
        if read_done(source) == done:
            shutil.rmtree(space)
            raise
        is_whole = False
    if is_whole:
        empty(target)
        space.replace(target)
    else:
        shutil.rmtree(space)
    return is_whole


def empty(folder: Path) -> None:
    """Leave an empty folder, without any result, wherever this is cut off."""
    for name in (DONE, STARTED):  # first, so that a kill in between leaves nothing that looks whole
        (folder / name).unlink(missing_ok=True)
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
