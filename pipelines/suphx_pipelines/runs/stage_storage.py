"""What there is of a stage, here and in the storage, so that another machine can go on where this one stopped."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suphx.json_text import parse_json
from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.runs.stage_folder import (
    DONE,
    STARTED,
    Done,
    Started,
    parse_done,
    parse_started,
    read_done,
    read_started,
)
from suphx_platform.console.console import Console
from suphx_platform.storage.manifest import CheckpointVersion
from suphx_platform.storage.storage import BEST, FINISHED, Storage
from suphx_platform.storage.upload_queue import UploadQueue

FILES = "files"
"""Entry of the inputs of a stage that reads files outside of the run: their digests."""
NEWEST = "newest"
"""In the place of the digests: of files that are those of the time when they are copied."""
UPSTREAM = "upstream"
"""Entry of the inputs of a stage: the digests of those that it needs."""
# They begin with a dot: they say something of this machine's folder and are not stored themselves.
_MARK = ".stored.json"
"""The version that this machine has stored, or fetched."""
_REACHED = ".reached.json"
"""The number of the last save, whether it was stored or not."""


@dataclass(frozen=True, slots=True)
class StageWork:
    """A result, or the files of an attempt that was stopped."""

    made: Started
    """A ``Done`` if it is finished."""
    versions: Sequence[CheckpointVersion] = ()
    """Where it is in the storage, followed by older versions; empty if it is here."""

    @property
    def done(self) -> Done | None:
        """None if it is unfinished."""
        return self.made if isinstance(self.made, Done) else None


def local_work(folder: Path) -> StageWork | None:
    """Return what a stage's folder contains; None if that is nothing but marks."""
    made = read_done(folder) or read_started(folder)
    if isinstance(made, Done):
        return StageWork(made)
    if made is None or all(path.name in (STARTED, DONE) or path.name[0] == "." for path in folder.iterdir()):
        return None
    return StageWork(made)


def stored_work(storage: Storage, versions: Sequence[CheckpointVersion]) -> list[StageWork]:
    """Return what each version (ascending) of a stage in the storage contains, the newest first."""
    found = []
    for end in range(len(versions), 0, -1):
        newest = versions[end - 1]
        with suppress(ValueError):  # damaged: an older version is used
            made: Started | None = None
            if done := _content(storage.read(newest, DONE)):
                made = parse_done(done, Path(newest.key(DONE)))
            if made is None and (started := _content(storage.read(newest, STARTED))):
                made = parse_started(started)
            if made is not None:
                found.append(StageWork(made, versions[:end][::-1]))
    return found


def _content(data: bytes | None) -> dict[str, Any] | None:
    with suppress(ValueError):
        content = parse_json(data) if data else None
        return content if isinstance(content, dict) else None
    return None


class StageStorage:
    """Fetches and keeps stage folders under ``<run id>/<stage name>``; without a storage it does nothing."""

    def __init__(self, storage: Storage | None, run_id: str, console: Console) -> None:
        self._storage = storage
        self._uploads = None if storage is None else UploadQueue(storage)
        self._run_id = run_id
        self._console = console

    @property
    def address(self) -> str:
        """The address of the storage; empty without one."""
        return "" if self._storage is None else self._storage.config.address

    def uploads(self) -> AbstractContextManager[object]:
        """Return a context at whose end everything that was to be kept is stored."""
        return nullcontext() if self._uploads is None else self._uploads

    def figures(self) -> dict[str, float]:
        """Return what is watched of the storage (``UploadQueue.figures``); nothing without one."""
        return {} if self._uploads is None else self._uploads.figures()

    def reach(self) -> None:
        """Raise OSError unless the storage answers, and lets this run write and remove objects."""
        if self._storage is not None:
            self._storage.reach_to_write()

    def name(self, stage_name: str) -> str:
        """Return what the stage's folder is called in the storage."""
        return f"{self._run_id}/{stage_name}"

    def further_work(self, stage_name: str, folder: Path) -> list[StageWork]:
        """Return what the storage has that is further than what this machine has, the newest first."""
        if self._storage is None:
            return []
        stored = self._stored_path(folder)
        reached = _marked(folder / _REACHED, "number", int) if (folder / _REACHED).is_file() else -1
        versions = [
            version
            for version in self._storage.versions(self.name(stage_name))
            if version.path > stored and version.number > reached
        ]
        return stored_work(self._storage, versions)

    def fetch(self, stage_name: str, folder: Path, versions: Sequence[CheckpointVersion], digest: str) -> None:
        """Replace ``folder`` by the first of ``versions`` that is not damaged; what was there is moved aside.

        ``digest``: of the work that may be fetched. Another process that still works on the run may have removed
        the versions since they were listed: then what it has stored since is fetched, or OSError raised if that is
        none of this work.
        """
        if self._storage is None or not versions:
            return
        folder.parent.mkdir(parents=True, exist_ok=True)
        had_files = folder.is_dir() and any(folder.iterdir())
        tried: set[str] = set()
        version = None
        while version is None and versions:
            version = self._storage.load_first(versions, folder, aside=_aside(folder))
            tried |= {each.path for each in versions}
            versions = [] if version else self._stored_since(stage_name, folder, tried, digest)
        if version is not None:
            self._mark(folder, version)
            write_json(folder / _REACHED, {"number": version.number})
            self._console.say(f"{stage_name}: fetched from the storage ({version.path})")
            if had_files:
                self._console.say(f"{stage_name}: the files that were here are kept in {_aside(folder)} until it ends")

    def _stored_since(
        self, stage_name: str, folder: Path, tried: Collection[str], digest: str
    ) -> Sequence[CheckpointVersion]:
        """Return versions that were not ``tried``, the newest first; nothing if those that were are still there."""
        found = self.further_work(stage_name, folder)
        are_gone = all(work.versions[0].path not in tried for work in found)
        newer = [work for work in found if work.versions[0].path not in tried]
        fitting = next((work for work in newer if work.made.digest == digest), None)
        if newer and are_gone and fitting is None:
            raise OSError(
                f"{stage_name}: the versions in the storage that this run was to go on from have been replaced by "
                "those of another process, with other settings: let only one of them work on "
                f"{self._run_id}, and start it again"
            )
        return fitting.versions if fitting else ()

    def remove(self, stage_name: str) -> None:
        """Remove what the storage has of a stage that is run again."""
        if self._storage is not None:
            self._storage.delete_under_way(self.name(stage_name))
            for name in (f"{self.name(stage_name)}/{BEST}", self.name(stage_name)):
                self._storage.delete(name)

    def keep(self, stage_name: str, folder: Path, number: int, then: Callable[[], None] | None = None) -> None:
        """Have ``folder``, as it is now, stored as version ``number``, unless it was stored or fetched as finished.

        ``then`` is called when it is stored, in the thread of the uploads; without a storage at once. Returns at once,
        but for a result of an earlier sitting: the storage is asked whether it has anything of this stage, as it may
        be another one now. Raises OSError if nothing could be stored for ``storage.max_outage_hours``.
        """
        if number == FINISHED:
            shutil.rmtree(_aside(folder), ignore_errors=True)
        else:
            write_json(folder / _REACHED, {"number": number})  # also without a storage: one may be set later
        is_stored = False
        if self._storage is not None and number == FINISHED and f"/{FINISHED}." in self._stored_path(folder):
            is_stored = True
            with suppress(OSError):  # it is unavailable: nothing says that it lost anything
                is_stored = self._storage.has_any(self.name(stage_name))
        if self._uploads is None or is_stored:
            if then is not None:
                then()
            return

        def note_stored(version: CheckpointVersion) -> None:
            self._mark(folder, version)
            if number == FINISHED and self._storage is not None:
                try:  # what only work under way needs
                    self._storage.delete_under_way(self.name(stage_name))
                except OSError as error:
                    left = "files that are needed no more are left in the storage"
                    self._console.warn(f"{stage_name}: {left}: {error}")
            if then is not None:
                then()

        self._uploads.save(self.name(stage_name), folder, number=number, then=note_stored)

    def keeps_best(self) -> bool:
        """Tell whether nets are stored that were measured."""
        return self._storage is not None and self._storage.config.keep_best > 0

    def keep_best(self, stage_name: str, number: int, nets: Path, score: float) -> None:
        """Have the nets in a folder, as they are now, stored as version ``number`` of ``<stage>/best``."""
        if self._uploads is not None:
            self._uploads.save(f"{self.name(stage_name)}/{BEST}", nets, number=number, score=score)

    def forget(self, folder: Path) -> None:
        """Have the next ``keep`` of a finished folder store it again: its files have changed."""
        (folder / _MARK).unlink(missing_ok=True)

    def _mark(self, folder: Path, version: CheckpointVersion) -> None:
        write_json(folder / _MARK, {"version": version.path})

    def _stored_path(self, folder: Path) -> str:
        mark = folder / _MARK
        path = _marked(mark, "version", str) if mark.is_file() else ""
        return path if path.startswith(f"{self._run_id}/") else ""  # another run's, if its result was taken


def _marked(mark: Path, name: str, kind: type) -> Any:
    value = read_json(mark).get(name)
    if type(value) is not kind:
        raise ValueError(f"{mark} is damaged (it has no {name}): remove it and run again")
    return value


def _aside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.replaced")
