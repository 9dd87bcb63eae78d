"""Members of a zip archive, in bounded memory whatever the archive states; every error is an OSError.

Python's zipfile reads the whole directory of an archive and trusts the sizes in it. So the size of the directory is
checked first, and what all members unpack to is counted.
"""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from suphx.games.riichi.records.archive.record_stream import FREE_UNPACKED_BYTES, MAX_UNPACKED_RATIO

MAX_DIRECTORY_BYTES = 8 * 1024 * 1024
"""Of the list of members: 80,000 games with long names."""

_END_MARK = b"PK\x05\x06"
_ZIP64_MARK = b"PK\x06\x07"
_END = struct.Struct("<4s4H2LH")
_ZIP64_BYTES = 20
_MAX_COMMENT_BYTES = 65_535
_ERRORS = (
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    ValueError,
    IndexError,
    OverflowError,
    EOFError,
    struct.error,
    zlib.error,
    lzma.LZMAError,
)


class ZipMember:
    """One file of an archive; ``read`` raises OSError for damage, a password, or too much content."""

    def __init__(self, archive: _Archive, info: zipfile.ZipInfo) -> None:
        self.name = info.filename
        self._archive = archive
        self._info = info
        self._file: IO[bytes] | None = None

    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes of the content."""
        try:
            if self._file is None:
                self._file = self._archive.zip.open(self._info)
            data = self._file.read(size)
        except _ERRORS as error:
            raise OSError(f"damaged or encrypted: {error or type(error).__name__}") from error
        self._archive.count(len(data))
        return data

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


class _Archive:
    def __init__(self, archive: zipfile.ZipFile, num_packed: int) -> None:
        self.zip = archive
        self._num_left = max(FREE_UNPACKED_BYTES, MAX_UNPACKED_RATIO * num_packed)

    def count(self, num_bytes: int) -> None:
        """Count unpacked bytes; OSError beyond the limit."""
        self._num_left -= num_bytes
        if self._num_left < 0:
            raise OSError(f"unpacks to over {MAX_UNPACKED_RATIO} times its size: game records do not")


def iter_zip_members(path: Path) -> Iterator[ZipMember]:
    """Yield the files of an archive in the order of its directory, without folders.

    OSError if it is no zip archive, is damaged, or has a directory over MAX_DIRECTORY_BYTES.
    """
    with path.open("rb") as file:
        _check_directory(file)
        try:
            archive = zipfile.ZipFile(file)
        except _ERRORS as error:
            raise OSError(f"damaged zip archive: {error or type(error).__name__}") from error
        with archive:
            counted = _Archive(archive, path.stat().st_size)
            for info in archive.infolist():
                if info.is_dir():
                    continue
                member = ZipMember(counted, info)
                try:
                    yield member
                finally:
                    member.close()


def _check_directory(file: IO[bytes]) -> None:
    """Read the end of the archive, which has the size of its directory."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _END.size - _MAX_COMMENT_BYTES - _ZIP64_BYTES))
    tail = file.read()
    place = tail.rfind(_END_MARK)
    if place < 0 or len(tail) < place + _END.size:
        raise OSError("not a zip archive, or cut off: its directory is missing")
    if _ZIP64_MARK in tail:
        raise OSError("the archive is over 4 GiB or has over 65,535 files: pack the records as .tar")
    num_bytes = _END.unpack_from(tail, place)[5]
    if num_bytes > MAX_DIRECTORY_BYTES:
        raise OSError(f"the archive's directory has over {MAX_DIRECTORY_BYTES:,} bytes: pack the records as .tar")
