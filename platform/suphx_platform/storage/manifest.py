"""The manifest of a version: which files it has, and how each can be checked. What is read may come from anybody."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, NoReturn

from suphx.finite_number import is_finite_number
from suphx.printable_text import shortened
from suphx_platform.storage.objects import PART_BYTES, Part

MANIFEST = "manifest.json"
FORMAT = 2
MAX_NAME = 1024
"""Bytes of a file's path in the folder; keys of S3 have at most as many."""
_MAX_PART_NAME = 255
"""Bytes of each of its parts, as of most file systems."""
_WRITER = re.compile(r"[0-9a-f]{32}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class ManifestError(ValueError):
    """A manifest is not one that this program writes."""


@dataclass(frozen=True, slots=True)
class CheckpointVersion:
    """One finished state of a folder."""

    path: str
    """``<name>/<number>.<attempt>``."""
    number: int
    score: float | None
    """How good it is, larger is better; None if nobody said."""
    writer: str
    """Folder of its files below ``path``: 32 hexadecimal digits."""
    files: dict[str, list[Part]]
    """Parts by the file's path in the folder."""
    saved: float = 0.0
    """When, in seconds since 1970; 0 if the manifest does not say."""

    def key(self, file: str) -> str:
        """Return the key of one of its files."""
        return f"{self.path}/{self.writer}/{file}"


def write_manifest(version: CheckpointVersion) -> bytes:
    """Return the bytes of the manifest."""
    content = {"format": FORMAT, "writer": version.writer, "score": version.score, "part_bytes": PART_BYTES}
    return json.dumps(content | {"saved": version.saved, "files": version.files}, allow_nan=False).encode()


def read_manifest(path: str, data: bytes) -> CheckpointVersion:
    """Return the version at ``path``; ManifestError, which says why, for all that ``write_manifest`` does not make.

    No name leads out of the folder, every number is finite, and no writer is a path.
    """
    manifest = _parsed(data)
    if manifest.get("format") != FORMAT or manifest.get("part_bytes") != PART_BYTES:
        raise ManifestError(f"its format is not {FORMAT}: it was written by another version of this program")
    writer, files = manifest.get("writer"), manifest.get("files")
    if not isinstance(writer, str) or not _WRITER.fullmatch(writer):
        raise ManifestError(f"its writer {_shown(writer)} is not 32 hexadecimal digits")
    if not isinstance(files, dict):
        raise ManifestError("its files are not a table")
    parts = {_file_name(name): _parts(name, value) for name, value in files.items()}
    for name in parts:
        if not parts.keys().isdisjoint(map(str, PurePosixPath(name).parents)):
            raise ManifestError(f"{_shown(name)} is inside of a file")
    score = None if manifest.get("score") is None else _number("score", manifest["score"])
    number = int(path.rpartition("/")[2].split(".")[0])
    return CheckpointVersion(path, number, score, writer, parts, _number("saved", manifest.get("saved", 0.0)))


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        manifest = json.loads(data, parse_constant=_refuse)  # noqa: TID251 - which parse_json does not know
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"it is not JSON: {shortened(str(error), 200)}") from None
    if not isinstance(manifest, dict):
        raise ManifestError("it is not a table")
    return manifest


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def _file_name(name: str) -> str:
    parts = name.split("/")
    is_plain = name.isprintable() and "\\" not in name and len(name.encode()) <= MAX_NAME
    if not is_plain or any(not part or part.startswith(".") or len(part.encode()) > _MAX_PART_NAME for part in parts):
        raise ManifestError(f"{_shown(name)} is no name of a file inside the folder")
    return name


def _parts(name: str, value: object) -> list[Part]:
    if not isinstance(value, list):
        raise ManifestError(f"the parts of {_shown(name)} are not a list")
    parts = []
    for part in value:
        match part:
            case [int(size), str(digest)] if type(size) is int and 0 < size <= PART_BYTES and _DIGEST.fullmatch(digest):
                parts.append((size, digest))
            case _:
                raise ManifestError(f"a part of {_shown(name)} is {_shown(part)}: not a size and a SHA-256")
    return parts


def _number(name: str, value: object) -> float:
    if not is_finite_number(value):
        raise ManifestError(f"its {name} is {_shown(value)}: not a finite number")
    return float(value)


def _shown(value: object) -> str:
    return shortened(repr(value), 80)
