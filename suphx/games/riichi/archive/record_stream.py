"""Bytes of record files: decompressed by their first bytes, cut into lines; the members of tar and zip files.

No size that a file states is believed: a line or a file is given up when it has grown over the limit. All damage is an
OSError.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import IO, Any, NamedTuple, Self, cast

MAX_RECORD_BYTES = 16 * 1024 * 1024
MAX_UNPACKED_RATIO = 500
"""A packed file that grows beyond this many times its size is given up; game records shrink to a tenth."""
FREE_UNPACKED_BYTES = 64 * 1024 * 1024  # what any packed file may unpack to before the ratio counts
MAX_HEADER_BYTES = 64 * 1024  # of a long name or of a pax header in a tar file: tarfile reads each as a whole

_UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_PIECE_BYTES = 256 * 1024
_MAX_LAYERS = 2  # some servers pack what is packed already
_UNPACKERS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"BZh": bz2.BZ2File,
}
_FOREIGN = {
    b"SQLite format 3\x00": "an SQLite database: export its games into files",
    b"PK\x03\x04": "a zip archive: name it .zip",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive: unpack it",
    b"Rar!\x1a\x07": "a RAR archive: unpack it",
    b"\x28\xb5\x2f\xfd": "packed with zstd: unpack it",
}
_READ_WHOLE = frozenset((
    tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE,
))  # fmt: skip
"""Types of headers with names and pax values behind them."""
_DAMAGE = (
    EOFError,
    IndexError,
    MemoryError,
    OverflowError,
    RuntimeError,  # a password, an unknown method
    ValueError,
    lzma.LZMAError,
    struct.error,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What Python's readers of packed files and archives raise for damage, beside OSError."""


class Line(NamedTuple):
    """One line of a file, without its end; ``data`` is None if it is longer than the limit."""

    number: int
    data: bytes | None


class OtherFormat(OSError):  # noqa: N818 (nothing is wrong with it)
    """A file of a kind that is not read; the text says which."""


def read_bounded(file: io.BufferedIOBase) -> bytes | None:
    """Return the whole content, or None if it is longer than MAX_RECORD_BYTES."""
    data = file.read(MAX_RECORD_BYTES + 1)
    return data if len(data) <= MAX_RECORD_BYTES else None


def iter_lines(file: io.BufferedIOBase) -> Iterator[Line]:
    """Yield the lines of a file in order, without the empty ones, which are only counted."""
    for number in count(1):
        data = file.readline(MAX_RECORD_BYTES + 1)
        if not data:
            return
        if len(data.rstrip(b"\n")) > MAX_RECORD_BYTES:
            yield Line(number, None)
            while data and not data.endswith(b"\n"):
                data = file.readline(_PIECE_BYTES)
        elif data != b"\n":
            yield Line(number, data.rstrip(b"\n"))


class _Unpacked(io.RawIOBase):
    """What the reader of a packed file gives: OSError for damage, and if it is far more than it was packed."""

    def __init__(self, open_file: Callable[[], IO[bytes]], num_packed: Callable[[], int]) -> None:
        self._open = open_file
        self._file: IO[bytes] | None = None
        self._num_packed = num_packed
        self._num_bytes = 0

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._num_bytes

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            self._file = self._file or self._open()
            data = self._file.read(len(buffer))
        except _DAMAGE as error:
            raise OSError(f"damaged or encrypted: {error or type(error).__name__}") from error
        buffer[: len(data)] = data
        self._num_bytes += len(data)
        if self._num_bytes > max(FREE_UNPACKED_BYTES, MAX_UNPACKED_RATIO * self._num_packed()):
            raise OSError(f"unpacks to over {MAX_UNPACKED_RATIO} times its size: game records do not")
        return len(data)


def unpacked(file: io.BufferedReader) -> io.BufferedIOBase:
    """Return the content of ``file``: unpacked, also twice, if its first bytes tell so; UTF-16 with a mark as UTF-8.

    OtherFormat for a file that is packed more often, or in a way that is not read.
    """
    content = file
    for _ in range(_MAX_LAYERS + 1):
        start = content.peek(16)
        if foreign := next((what for magic, what in _FOREIGN.items() if start.startswith(magic)), None):
            raise OtherFormat(f"it is {foreign}")
        unpack = next((unpack for magic, unpack in _UNPACKERS.items() if start.startswith(magic)), None)
        if unpack is None:
            if not start.startswith(_UTF_16_MARKS):
                return content
            data = read_bounded(content)
            if data is None:
                raise OtherFormat(f"it is UTF-16 of over {MAX_RECORD_BYTES:,} bytes: convert it to UTF-8")
            # What is no UTF-16 becomes a replacement character, and damages its line only.
            return io.BytesIO(data.decode("utf-16", "replace").encode(errors="replace"))
        content = io.BufferedReader(_Unpacked(partial(unpack, content), file.tell), _PIECE_BYTES)
    raise OtherFormat(f"it is packed over {_MAX_LAYERS} times: unpack it")


class ReadShare:
    """Opens the files of ``iter_texts``, and knows the share of their bytes that was read.

    >>> read = ReadShare()
    >>> for log in iter_records([folder], quarantine=quarantine, read=read):
    ...     print(f"{read.share:.0%}")
    """

    def __init__(self) -> None:
        self._num_bytes = 0
        self._num_done = 0
        self._file: IO[bytes] | None = None

    @property
    def share(self) -> float:
        """From 0 to 1; 0 before anything is known."""
        num_read = self._num_done + (self._file.tell() if self._file is not None else 0)
        return min(1.0, num_read / self._num_bytes) if self._num_bytes else 0.0

    def expect(self, num_bytes: int) -> None:
        """Add the size of files that will be opened."""
        self._num_bytes += num_bytes

    @contextmanager
    def open(self, path: Path) -> Iterator[io.BufferedReader]:
        """Open a file; afterwards it counts as read, however much of it was."""
        size = path.stat().st_size
        try:
            with path.open("rb") as file:
                self._file = file
                yield file
        finally:
            self._num_done += size
            self._file = None


class Member(NamedTuple):
    """One plain file of an archive; its content must be read before the next member is asked for."""

    name: str
    file: io.BufferedReader


class _Header(tarfile.TarInfo):
    """A header of a tar file whose damage is an error: tarfile takes it for the end of the archive."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        header = super().frombuf(buf, encoding, errors)
        if header.type in _READ_WHOLE and header.size > MAX_HEADER_BYTES:
            raise OSError(f"damaged tar header: a name of {header.size:,} bytes")
        return header

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(archive)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:
            raise OSError(f"not a tar header, a damaged one, or the archive is cut off: {error}") from error


def iter_tar_members(file: io.BufferedIOBase) -> Iterator[Member]:
    """Yield the plain files of an archive in order; folders, links and devices are passed over.

    OSError if the file is not a tar archive, is damaged, or ends without its end mark (a block of zeros).
    """
    try:
        with tarfile.open(
            fileobj=cast("IO[bytes]", file), mode="r|", tarinfo=_Header, encoding="utf-8", errors="replace"
        ) as archive:
            while (info := archive.next()) is not None:
                if info.issparse():
                    raise OSError(f"{info.name} is a sparse file: pack it without holes")
                content = archive.extractfile(info) if info.isreg() else None
                if content is not None:
                    yield _member(info.name, lambda content=content: content, info.size)  # type: ignore[misc]
                    while content.read(_PIECE_BYTES):  # or tarfile would seek as far as the header says
                        pass
                archive.members.clear()  # type: ignore[attr-defined]  # it keeps every header
    except _DAMAGE as error:
        raise OSError(f"damaged archive, or cut off: {error}") from error
    while file.read(_PIECE_BYTES):  # zeros; a packed archive is checked as a whole at its end
        pass


def iter_zip_members(file: io.BufferedReader, num_packed: int) -> Iterator[Member]:
    """Yield the files of an archive of ``num_packed`` bytes in the order of its directory, without folders."""
    try:
        archive = zipfile.ZipFile(file)
    except _DAMAGE as error:
        raise OSError(f"not a zip archive, or cut off: {error}") from error
    for info in archive.infolist():
        if not info.is_dir():
            yield _member(info.filename, partial(archive.open, info), num_packed)


def _member(name: str, open_file: Callable[[], IO[bytes]], num_packed: int) -> Member:
    return Member(name, io.BufferedReader(_Unpacked(open_file, lambda: num_packed)))
