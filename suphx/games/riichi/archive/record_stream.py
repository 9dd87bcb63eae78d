"""Bytes of record files: decompressed by their magic numbers and read in bounded pieces.

Nothing here trusts a size that a file states: a line or a file is given up when it has grown over the limit. tar and
zip files are read without trust in what their headers say.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple, Protocol

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
        self._content: _Begun | None = None
        self._decoder: codecs.IncrementalDecoder | None = None

    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes and at least one; none at the end."""
        if self._content is None:
            self._content = _Begun(self._file)
            if self._content.start.startswith(UTF_16_MARKS):
                self._decoder = codecs.getincrementaldecoder("utf-16")("replace")
        if self._decoder is None:
            return self._content.read(size)
        while piece := self._content.read(max(1, size // _UTF8_GROWTH)):
            if text := self._decoder.decode(piece):
                return text.encode(errors="replace")
        return self._decoder.decode(b"", final=True).encode(errors="replace")


class _Counted(io.RawIOBase):
    """Any source as a raw stream, so that it can be peeked at; counts what was read, and tells ``add``."""

    def __init__(self, file: ByteSource, add: Callable[[int], None] = lambda num_bytes: None) -> None:
        self.num_bytes = 0
        self._file = file
        self._add = add

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self.num_bytes += len(data)
        self._add(len(data))
        return len(data)


class Decompressed:
    """A reader of ``file`` that decompresses it if its first bytes say so, also if it is packed twice.

    It looks at them when they are read, so that damage is the reader's to report. OtherFormat for a file that is packed
    more often, or in a way that is not read.
    """

    def __init__(self, file: ByteSource) -> None:
        self._file = file
        self._content: ByteSource | None = None

    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes and at least one; none at the end."""
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
        return _Counted(file, self._add)

    def _add(self, num_bytes: int) -> None:
        self._in_file += num_bytes


MAX_HEADER_BYTES = 64 * 1024
"""Of a long name or a pax header."""

_BLOCK_BYTES = 512
_PLAIN_FILES = (b"0", b"\x00", b"7")
_WITHOUT_CONTENT = (b"1", b"2", b"3", b"4", b"5", b"6")  # links, devices, folders
_GNU_NAME, _PAX, _SPARSE = b"L", b"x", b"S"
_OTHER_HEADERS = (b"K", b"g", b"X", b"V")  # name of a link, defaults, access lists, volume: nothing to read in them

_OCTAL = re.compile(rb"[ \x00]*([0-7]{0,12})[ \x00]*")
_PAX_RECORD = re.compile(rb"([0-9]{1,6}) ([^=\n]{1,1000})=")


class Member:
    """One plain file of an archive; its content must be read before the next member is asked for."""

    def __init__(self, name: str, file: ByteSource, num_bytes: int) -> None:
        self.name = name
        self._file = file
        self._num_left = num_bytes
        self._num_filler = -num_bytes % _BLOCK_BYTES

    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes of the content; OSError if the archive ends in the middle of it."""
        data = _read(self._file, min(size, self._num_left, _PIECE_BYTES))
        self._num_left -= len(data)
        return data

    def skip(self) -> None:
        """Pass over what is left of the content and the zeros after it."""
        while self.read(_PIECE_BYTES):
            pass
        _read(self._file, self._num_filler)


def iter_members(file: ByteSource) -> Iterator[Member]:
    """Yield the plain files of an archive in order; folders, links and devices are passed over.

    OSError if the file is no tar archive, is damaged, or ends without its end mark (a block of zeros).
    """
    name: str | None = None
    size: int | None = None
    while any(header := _read(file, _BLOCK_BYTES)):
        _check(header)
        kind, stated = header[156:157], _number(header[124:136])
        if kind == _GNU_NAME:
            name = _text(_header_content(file, stated))
        elif kind == _PAX:
            name, size = _pax(_header_content(file, stated), name, size)
        elif kind in _OTHER_HEADERS:
            Member("", file, stated).skip()
        else:
            num_bytes = 0 if kind in _WITHOUT_CONTENT else stated if size is None else size
            member = Member(name or _header_name(header), file, num_bytes)
            name = size = None
            if kind == _SPARSE:
                raise OSError(f"{member.name} is a sparse file: pack it without holes")
            if kind in _PLAIN_FILES and not member.name.endswith("/"):
                yield member
            member.skip()
    while file.read(_PIECE_BYTES):  # zeros; a packed archive is checked as a whole at its end
        pass


def _read(file: ByteSource, size: int) -> bytes:
    """Return exactly ``size`` bytes."""
    pieces: list[bytes] = []
    while size > 0:
        piece = file.read(size)
        if not piece:
            raise OSError("the archive is cut off: its end mark is missing")
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _check(header: bytes) -> None:
    """Compare the sum of all bytes with the one in the header; old programs took the bytes as signed."""
    others = header[:148] + b" " * 8 + header[156:]
    total = sum(others)
    if _number(header[148:156]) not in (total, total - 256 * sum(byte > 127 for byte in others)):
        raise OSError("not a tar header, or a damaged one: its sum is wrong")


def _number(text: bytes) -> int:
    """Return a number: octal digits, or after a byte of 0x80 binary."""
    if text[0] == 0x80:
        return int.from_bytes(text[1:], "big")
    match = _OCTAL.fullmatch(text)
    if match is None:
        raise OSError(f"damaged tar header: {text!r} is not an octal number")
    return int(match[1] or b"0", 8)


def _header_content(file: ByteSource, num_bytes: int) -> bytes:
    if num_bytes > MAX_HEADER_BYTES:
        raise OSError(f"damaged tar header: a name of {num_bytes:,} bytes")
    content = _read(file, num_bytes)
    _read(file, -num_bytes % _BLOCK_BYTES)
    return content


def _header_name(header: bytes) -> str:
    name = _text(header[:100])
    is_posix = header[257:263] == b"ustar\x00"
    prefix = _text(header[345:500]) if is_posix else ""
    return f"{prefix}/{name}" if prefix else name


def _pax(content: bytes, name: str | None, size: int | None) -> tuple[str | None, int | None]:
    """Return the name and the size of the next member: those of its pax header, where that has them."""
    start = 0
    while start < len(content):
        match = _PAX_RECORD.match(content, start)
        end = start + int(match[1]) if match else 0
        if match is None or not match.end() < end <= len(content):
            raise OSError("damaged pax header")
        key, value = match[2], content[match.end() : end - 1]
        if key.startswith(b"GNU.sparse."):
            raise OSError("the archive has a sparse file: pack it without holes")
        if key == b"path":
            name = _text(value)
        elif key == b"size":
            if not re.fullmatch(rb"[0-9]{1,20}", value):
                raise OSError(f"damaged pax header: size {value[:40]!r}")
            size = int(value)
        start = end
    return name, size


def _text(name: bytes) -> str:
    return name.split(b"\x00", 1)[0].decode("utf-8", "replace")


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
