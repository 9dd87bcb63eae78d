"""The manifest of a version: which files it has, and how each can be checked. What is read may come from anybody."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from suphx.finite_number import is_finite_number
from suphx.json_text import parse_json
from suphx.printable_text import shortened
from suphx_platform.storage.objects import Digest

MANIFEST = "manifest.json"
FORMAT = 3
MAX_NAME = 1024
"""Bytes of a file's path in the folder; keys of S3 have at most as many."""
_MAX_PART_NAME = 255
"""Bytes of each of its parts, as of most file systems."""
_WRITER = re.compile(r"[0-9a-f]{32}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class ManifestError(ValueError):
    """A manifest is not one that this program writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointVersion:
    """One finished state of a folder."""

    path: str
    """``<name>/<number>.<attempt>``."""
    writer: str
    """Folder of its files below ``path``: 32 hexadecimal digits."""
    files: dict[str, Digest]
    """By the file's path in the folder."""
    score: float | None = None
    """How good it is, larger is better; None if it was not measured."""
    saved: float = 0.0
    """When, in seconds since 1970."""

    @property
    def number(self) -> int:
        """The step at which it was saved."""
        return int(self.path.rpartition("/")[2].partition(".")[0])

    def key(self, file: str) -> str:
        """Return the key of one of its files."""
        return f"{self.path}/{self.writer}/{file}"


def write_manifest(version: CheckpointVersion) -> bytes:
    """Return the bytes of the manifest."""
    content = {"format": FORMAT, "writer": version.writer, "score": version.score, "saved": version.saved}
    return json.dumps(content | {"files": version.files}, allow_nan=False).encode()


def read_manifest(path: str, data: bytes) -> CheckpointVersion:
    """Return the version at ``path``; ManifestError, which says why, for all that ``write_manifest`` does not make.

    No name leads out of the folder, every number is finite, and no writer is a path.
    """
    try:
        manifest = parse_json(data)
    except ValueError as error:
        raise ManifestError(f"it is not JSON: {shortened(str(error), 200)}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ManifestError(f"its format is not {FORMAT}: it was written by another version of this program")
    writer, files = manifest.get("writer"), manifest.get("files")
    score, saved = manifest.get("score"), manifest.get("saved")
    if not isinstance(writer, str) or not _WRITER.fullmatch(writer):
        raise ManifestError(f"its writer {_shown(writer)} is not 32 hexadecimal digits")
    if not isinstance(files, dict):
        raise ManifestError("its files are not a table")
    digests: dict[str, Digest] = {}
    for name, value in files.items():
        parts = name.split("/")
        is_plain = name.isprintable() and "\\" not in name and len(name.encode()) <= MAX_NAME
        if not is_plain or any(not one or one.startswith(".") or len(one.encode()) > _MAX_PART_NAME for one in parts):
            raise ManifestError(f"{_shown(name)} is no name of a file inside the folder")
        match value:
            case [int(size), str(digest)] if type(size) is int and size >= 0 and _SHA256.fullmatch(digest):
                digests[name] = size, digest
            case _:
                raise ManifestError(f"{_shown(name)} has {_shown(value)}: not a size and a SHA-256")
    for name in digests:
        if not digests.keys().isdisjoint(map(str, PurePosixPath(name).parents)):
            raise ManifestError(f"{_shown(name)} is inside of a file")
    if not (score is None or is_finite_number(score)) or not is_finite_number(saved):
        raise ManifestError(f"its score {_shown(score)} or its time {_shown(saved)} is not a finite number")
    return CheckpointVersion(path=path, writer=writer, files=digests, score=score, saved=saved)


def _shown(value: object) -> str:
    return shortened(repr(value), 80)
