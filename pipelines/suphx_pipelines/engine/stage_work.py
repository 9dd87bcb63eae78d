"""What there is of a stage before a run begins: in its folder here, and in the storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suphx.json_text import parse_json
from suphx_pipelines.engine.provenance import digest_json
from suphx_pipelines.engine.stage import WARNINGS_FILE
from suphx_pipelines.engine.stage_folder import DONE, STARTED, Done, parse_done, parse_started, read_done, read_started
from suphx_platform.storage.manifest import CheckpointVersion
from suphx_platform.storage.storage import Storage

FILES = "files"
"""Entry of the inputs of a stage that reads files outside of the run: their digests."""
NEWEST = "newest"
"""In the place of the digests: of files that are those of the time when they are copied."""
CONTINUED = "continued"
"""Entry of the inputs of a stage that was begun by other code: the digests of the attempts before, the last first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageWork:
    """A result, or the files of an attempt that was stopped."""

    digest: str
    """Of its inputs; empty if its format is unknown."""
    inputs: Mapping[str, Any]
    sources: Mapping[str, str]
    done: Done | None = None
    """None if it is unfinished."""
    versions: Sequence[CheckpointVersion] = ()
    """Where it is in the storage, followed by older versions; empty if it is here."""

    def is_of(self, stage_name: str, digest: str) -> bool:
        """Tell whether it was made, or at least continued, with the inputs of this digest."""
        inputs = {key: value for key, value in self.inputs.items() if key != CONTINUED}
        return digest in (self.digest, digest_json([stage_name, inputs]))

    @property
    def digests(self) -> tuple[str, ...]:
        """Its digest, and those of the attempts by other code that it goes on from: its older versions have them."""
        return self.digest, *str(self.inputs.get(CONTINUED, "")).split()


def local_work(folder: Path) -> StageWork | None:
    """Return what a stage's folder contains; None if that is nothing but marks."""
    done = read_done(folder)
    if done is not None:
        return _finished(done)
    started = read_started(folder)
    marks = {STARTED, DONE, WARNINGS_FILE}
    if started is None or all(path.name in marks for path in folder.iterdir() if not path.name.startswith(".")):
        return None
    return StageWork(digest=started.digest, inputs=started.inputs, sources=started.sources)


def stored_work(storage: Storage, versions: Sequence[CheckpointVersion]) -> list[StageWork]:
    """Return what each version (ascending) of a stage in the storage contains, the newest first."""
    found = (_read(storage, versions[: end + 1][::-1]) for end in reversed(range(len(versions))))
    return [work for work in found if work is not None]


def _read(storage: Storage, versions: Sequence[CheckpointVersion]) -> StageWork | None:
    newest = versions[0]
    done, started = (_content(storage.read(newest, name)) for name in (DONE, STARTED))
    try:
        finished = parse_done(done, Path(newest.key(DONE))) if done else None
    except ValueError:
        return None  # damaged: an older version is used
    if finished is not None:
        return _finished(finished, versions)
    if started is None:
        return None
    mark = parse_started(started)
    return StageWork(digest=mark.digest, inputs=mark.inputs, sources=mark.sources, versions=versions)


def _content(data: bytes | None) -> dict[str, Any] | None:
    try:
        content = parse_json(data) if data else None
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def _finished(done: Done, versions: Sequence[CheckpointVersion] = ()) -> StageWork:
    return StageWork(digest=done.digest, inputs=done.inputs, sources=done.sources, done=done, versions=versions)
