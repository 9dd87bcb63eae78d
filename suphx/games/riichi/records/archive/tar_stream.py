"""Members of a tar archive, forwards, in bounded memory and time whatever the archive states.

Python's own tarfile trusts an archive: damaged sizes, chains of headers and maps of sparse files make it loop for ever,
use any amount of memory, or end as if all was well. Record collections need little: plain files with POSIX (ustar, pax)
or GNU names. Every error is an OSError.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from suphx.games.riichi.records.archive.record_stream import ByteSource

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
