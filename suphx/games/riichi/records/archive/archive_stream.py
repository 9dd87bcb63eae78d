"""Streams of records from tar and zip files, which are read without trust in what their headers say."""

from __future__ import annotations

import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from suphx.games.riichi.records.archive.record_stream import FREE_UNPACKED_BYTES, MAX_UNPACKED_RATIO, ByteSource

MAX_HEADER_BYTES = 64 * 1024
"""Of a long name or a pax header."""

_BLOCK_BYTES = 512
_PIECE_BYTES = 256 * 1024
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
