"""Bytes of record files: decompressed by their magic numbers and read in bounded pieces.

Nothing here trusts a size that a file states: a line or a file is given up when it has grown over the limit.
"""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from typing import IO, NamedTuple, cast

MAX_RECORD_BYTES = 16 * 1024 * 1024
_MAX_SKIPPED_BYTES = 1024 * 1024 * 1024  # of one endless line, before the rest of the file is given up
_PIECE_BYTES = 256 * 1024
_GZIP_MAGIC = b"\x1f\x8b"
_XZ_MAGIC = b"\xfd7zXZ\x00"

DAMAGED_STREAM = (OSError, EOFError, lzma.LZMAError, zlib.error)
"""What reading a damaged or unreadable compressed file raises."""


class Line(NamedTuple):
    """One line of a file, without its end; ``data`` is None if it is longer than the limit."""

    number: int
    data: bytes | None


def decompressed(file: IO[bytes]) -> IO[bytes]:
    """Return ``file`` itself or a decompressing reader of it, as its first bytes say."""
    buffered = file if isinstance(file, io.BufferedReader) else io.BufferedReader(_Raw(file), _PIECE_BYTES)
    start = buffered.peek(len(_XZ_MAGIC))
    if start.startswith(_GZIP_MAGIC):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=buffered))
    if start.startswith(_XZ_MAGIC):
        return lzma.LZMAFile(buffered)
    return buffered


def read_bounded(file: IO[bytes]) -> bytes | None:
    """Return the whole content, or None if it is longer than MAX_RECORD_BYTES."""
    pieces: list[bytes] = []
    size = 0
    while piece := file.read(_PIECE_BYTES):
        size += len(piece)
        if size > MAX_RECORD_BYTES:
            return None
        pieces.append(piece)
    return b"".join(pieces)


def iter_lines(file: IO[bytes]) -> Iterator[Line]:
    """Yield the lines of a file in order; a line over MAX_RECORD_BYTES is skipped in pieces and yielded as None.

    Raises OSError when a single line goes on for over a gigabyte.
    """
    number = 1
    held: list[bytes] = []
    size = 0
    while piece := file.read(_PIECE_BYTES):
        *ends, rest = piece.split(b"\n")
        for end in ends:
            is_whole = size + len(end) <= MAX_RECORD_BYTES
            yield Line(number, b"".join([*held, end]) if is_whole else None)
            number, held, size = number + 1, [], 0
        size += len(rest)
        if size > _MAX_SKIPPED_BYTES:
            raise OSError(f"line {number} is longer than {_MAX_SKIPPED_BYTES:,} bytes")
        if size <= MAX_RECORD_BYTES:
            held.append(rest)
        else:
            held = []
    if size:
        yield Line(number, b"".join(held) if size <= MAX_RECORD_BYTES else None)


class _Raw(io.RawIOBase):
    """A tar member as a raw stream, so that it can be peeked at."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
