"""The manifest of a version: its files, and how each is checked. A manifest that is read may be from anybody."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, FiniteFloat, NonNegativeInt, StringConstraints, ValidationError

from suphx.printable_text import shortened
from suphx_platform.storage.objects import Digest

MANIFEST = "manifest.json"
_MAX_NAME, _MAX_PART_NAME = 1024, 255
"""Bytes of a file's path in the folder, as of keys in S3, and of each of its parts, as in most file systems."""


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


def _inside_of_the_folder(files: dict[str, Digest]) -> dict[str, Digest]:
    """Return ``files``; ValueError if a name leads out of the folder, or into a file."""
    for name in files:
        parts = name.split("/")
        is_plain = name.isprintable() and "\\" not in name and len(name.encode()) <= _MAX_NAME
        if not is_plain or any(not one or one.startswith(".") or len(one.encode()) > _MAX_PART_NAME for one in parts):
            raise ValueError(f"{name!r:.80} is not a name of a file inside the folder")
        if not files.keys().isdisjoint(map(str, PurePosixPath(name).parents)):
            raise ValueError(f"{name!r:.80} is inside of a file")
    return files


class _Manifest(BaseModel, strict=True):
    format: Literal[3]
    writer: Annotated[str, StringConstraints(pattern=r"\A[0-9a-f]{32}\z")]
    score: FiniteFloat | None
    saved: FiniteFloat
    files: Annotated[
        dict[str, tuple[NonNegativeInt, Annotated[str, StringConstraints(pattern=r"\A[0-9a-f]{64}\z")]]],
        AfterValidator(_inside_of_the_folder),
    ]


def write_manifest(version: CheckpointVersion) -> bytes:
    """Return the bytes of the manifest."""
    manifest = _Manifest(format=3, writer=version.writer, score=version.score, saved=version.saved, files=version.files)
    return manifest.model_dump_json().encode()


def read_manifest(path: str, data: bytes) -> CheckpointVersion:
    """Return the version at ``path``; ManifestError, which says why, for all that ``write_manifest`` does not make."""
    try:
        manifest = _Manifest.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        if first["loc"] == ("format",) and first["type"] == "literal_error":
            raise ManifestError("it was written by another version of suphx") from None
        place = "".join(f"{part}: " for part in first["loc"])
        raise ManifestError(shortened(f"{place}{first['msg']}", 200)) from None
    return CheckpointVersion(
        path=path, writer=manifest.writer, files=manifest.files, score=manifest.score, saved=manifest.saved
    )
