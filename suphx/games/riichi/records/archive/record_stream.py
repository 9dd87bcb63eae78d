"""Bytes of record files: decompressed by their magic numbers and read in bounded pieces.

Nothing here trusts a size that a file states: a line or a file is given up when it has grown over the limit.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from typing import NamedTuple, Protocol

MAX_RECORD_BYTES = 16 * 1024 * 1024
MAX_XZ_MEMORY = 128 * 1024 * 1024
"""What unpacking an xz file may need; its header asks for it. ``xz -9`` needs 65 MiB."""
MAX_UNPACKED_RATIO = 500
"""A packed file that grows beyond this many times its size is given up; game records shrink to a tenth."""
FREE_UNPACKED_BYTES = 64 * 1024 * 1024
"""What any packed file may unpack to before the ratio counts."""

UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF8_GROWTH = 2  # two bytes of UTF-16 are up to three of UTF-8
_MAX_SKIPPED_BYTES = 1024 * 1024 * 1024  # of one endless line, before the rest of the file is given up
_PIECE_BYTES = 256 * 1024
_MAX_LAYERS = 2  # some servers pack what is packed already
_MAX_MAGIC_BYTES = 16
_GZIP_MAGIC = b"\x1f\x8b"
_XZ_MAGIC = b"\xfd7zXZ\x00"
_BZ2_MAGIC = b"BZh"
_FOREIGN = {
    b"SQLite format 3\x00": "an SQLite database: export its games into files",
    b"PK\x03\x04": "a zip archive: name it .zip",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive: unpack it",
    b"Rar!\x1a\x07": "a RAR archive: unpack it",
    b"\x28\xb5\x2f\xfd": "packed with zstd: unpack it",
}

DAMAGED_STREAM = (OSError, EOFError, lzma.LZMAError, zlib.error)
"""What reading a damaged or unreadable compressed file raises."""


class ByteSource(Protocol):
    """Anything that bytes can be read from, forwards."""

    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes and at least one; none at the end."""
        ...


class Line(NamedTuple):
    """One line of a file, without its end; ``data`` is None if it is longer than the limit."""

    number: int
    data: bytes | None


class OtherFormat(OSError):  # noqa: N818 (nothing is wrong with it)
    """A file of a kind that is not read; the text says which."""


def decompressed(file: ByteSource) -> ByteSource:
    """Return a reader of ``file`` that decompresses it if its first bytes say so, also if it is packed twice.

    Reading raises OtherFormat for a file that is packed more often, or in a way that is not read.
    """
    return _Decompressed(file)


def read_bounded(file: ByteSource) -> bytes | None:
    """Return the whole content, or None if it is longer than MAX_RECORD_BYTES."""
    pieces: list[bytes] = []
    size = 0
    while piece := file.read(_PIECE_BYTES):
        size += len(piece)
        if size > MAX_RECORD_BYTES:
            return None
        pieces.append(piece)
    return b"".join(pieces)


def iter_lines(file: ByteSource) -> Iterator[Line]:
    """Yield the lines of a file in order, without the empty ones, which are only counted.

    A line over MAX_RECORD_BYTES is skipped in pieces and yielded as None. Raises OSError when a single line goes on
    for over a gigabyte.
    """
    number = 1
    held: list[bytes] = []
    size = 0
    while piece := file.read(_PIECE_BYTES):
        *ends, rest = piece.split(b"\n")
        for end in ends:
            if not end and not size:
                number += 1
                continue
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


class Utf8Source:
    """Consumes: a file. Produces: UTF-8 if its byte order mark says UTF-16, else its bytes as they are.

    What is no UTF-16 becomes a replacement character, and damages its line only.
    """

    def __init__(self, file: ByteSource) -> None:
        self._file = file
        self._start: bytes | None = None
        self._decoder: codecs.IncrementalDecoder | None = None

    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes and at least one; none at the end."""
        if self._start is None:
            self._start = self._read_start()
        if self._decoder is None:
            return self._piece(size)
        while piece := self._piece(max(1, size // _UTF8_GROWTH)):
            if text := self._decoder.decode(piece):
                return text.encode(errors="replace")
        return self._decoder.decode(b"", final=True).encode(errors="replace")

    def _read_start(self) -> bytes:
        start = b""
        while len(start) < len(codecs.BOM_UTF16_LE) and (piece := self._file.read(_PIECE_BYTES)):
            start += piece
        if start.startswith(UTF_16_MARKS):
            self._decoder = codecs.getincrementaldecoder("utf-16")("replace")
        return start

    def _piece(self, size: int) -> bytes:
        if not self._start:
            return self._file.read(size)
        piece, self._start = self._start[:size], self._start[size:]
        return piece


class _Counted(io.RawIOBase):
    """Any source as a raw stream, so that it can be peeked at; counts what was read."""

    def __init__(self, file: ByteSource) -> None:
        self.num_bytes = 0
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self.num_bytes += len(data)
        return len(data)


class _Decompressed:
    """Looks at the first bytes when they are read, so that damage is the reader's to report."""

    def __init__(self, file: ByteSource) -> None:
        self._file = file
        self._content: ByteSource | None = None

    def read(self, size: int, /) -> bytes:
        if self._content is None:
            self._content = self._open()
        return self._content.read(size)

    def _open(self) -> ByteSource:
        packed = _Counted(self._file)
        source: ByteSource = packed
        for _ in range(_MAX_LAYERS + 1):
            begun = _Begun(source)
            if begun.start.startswith(_GZIP_MAGIC):
                source = _Unpacked(gzip.GzipFile(fileobj=io.BufferedReader(_Counted(begun))), packed)
            elif begun.start.startswith(_XZ_MAGIC):
                source = _Unpacked(_XzFile(begun), packed)
            elif begun.start.startswith(_BZ2_MAGIC):
                source = _Unpacked(bz2.BZ2File(io.BufferedReader(_Counted(begun))), packed)
            else:
                foreign = next((what for magic, what in _FOREIGN.items() if begun.start.startswith(magic)), None)
                if foreign:
                    raise OtherFormat(f"it is {foreign}")
                return begun
        raise OtherFormat(f"it is packed over {_MAX_LAYERS} times: unpack it")


class _Begun:
    """A source whose first piece can be looked at."""

    def __init__(self, file: ByteSource) -> None:
        self.start = file.read(_PIECE_BYTES)
        while 0 < len(self.start) < _MAX_MAGIC_BYTES and (piece := file.read(_PIECE_BYTES)):
            self.start += piece
        self._file = file

    def read(self, size: int, /) -> bytes:
        if not self.start:
            return self._file.read(size)
        piece, self.start = self.start[:size], self.start[size:]
        return piece


class _Unpacked:
    """A decompressing reader that gives up on bombs."""

    def __init__(self, file: ByteSource, packed: _Counted) -> None:
        self._file = file
        self._packed = packed
        self._num_bytes = 0

    def read(self, size: int, /) -> bytes:
        data = self._file.read(size)
        self._num_bytes += len(data)
        if self._num_bytes > max(FREE_UNPACKED_BYTES, MAX_UNPACKED_RATIO * self._packed.num_bytes):
            raise OSError(f"unpacks to over {MAX_UNPACKED_RATIO} times its size: game records do not")
        return data


class _XzFile:
    """An xz file of one or more streams; lzma.LZMAFile has no limit to the memory that a header may ask for."""

    def __init__(self, file: ByteSource) -> None:
        self._file = file
        self._unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_XZ_MEMORY)
        self._left = b""

    def read(self, size: int, /) -> bytes:
        while not self._unpacker.eof or self._begins_stream():
            data = self._unpacker.decompress(self._take_packed(), size)
            if data:
                return data
        return b""

    def _take_packed(self) -> bytes:
        if not self._unpacker.needs_input:
            return b""
        packed, self._left = self._left or self._file.read(_PIECE_BYTES), b""
        if not packed:
            raise EOFError("the xz stream is cut off")
        return packed

    def _begins_stream(self) -> bool:
        """Continue with the next stream of the file, if there is one; zeros may come between."""
        left = self._unpacker.unused_data.lstrip(b"\x00")
        while not left:
            piece = self._file.read(_PIECE_BYTES)
            if not piece:
                return False
            left = piece.lstrip(b"\x00")
        self._left = left
        self._unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_XZ_MEMORY)
        return True


class ReadShare:
    """Consumes: sizes and reads of files (``iter_texts``). Produces: the share of their bytes that was read.

    >>> read = ReadShare()
    >>> for log in parse_all([folder], 8, quarantine=quarantine, read=read):
    ...     print(f"{read.share:.0%}")
    """

    def __init__(self) -> None:
        self._total = 0
        self._done = 0
        self._in_file = 0

    @property
    def share(self) -> float:
        """From 0 to 1; 0 before anything is known."""
        return min(1.0, (self._done + self._in_file) / self._total) if self._total else 0.0

    def expect(self, num_bytes: int) -> None:
        """Add the size of files that will be read."""
        self._total += num_bytes

    def finish_file(self, num_bytes: int) -> None:
        """Count a file of this size as read, however much of it was."""
        self._done += num_bytes
        self._in_file = 0

    def counted(self, file: ByteSource) -> ByteSource:
        """Return ``file`` as a source whose reads are counted."""
        return _CountedFile(file, self)

    def add(self, num_bytes: int) -> None:
        """Count bytes of the file that is being read."""
        self._in_file += num_bytes


class _CountedFile:
    def __init__(self, file: ByteSource, read: ReadShare) -> None:
        self._file = file
        self._read = read

    def read(self, size: int, /) -> bytes:
        data = self._file.read(size)
        self._read.add(len(data))
        return data
