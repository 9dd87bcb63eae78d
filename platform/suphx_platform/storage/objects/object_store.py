"""Files by name in a folder or in a bucket: the few verbs that storage.py needs, and how objects are checked.

``FolderStore`` and ``BucketStore`` have them. What is relied on is safe on every S3-compatible server: whole single
puts, puts of small objects that must not exist yet (``If-None-Match: *``), multipart uploads that appear whole or not
at all, ranged reads.
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Protocol, TypeVar

PART_BYTES = 16 * 2**20
SMALL_BYTES = 16 * 2**20
"""Of an object that is read at once, such as a manifest with 100,000 files."""

Part = tuple[int, str]
"""Size and SHA-256 of up to ``PART_BYTES`` bytes of an object; an empty object has no parts."""

READS = 3
"""How often a small object is read before it is taken for damaged or missing: an answer may be damaged on its way."""

T = TypeVar("T")

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class ExpiredKeysError(OSError):
    """The server no longer accepts temporary keys; new ones of the machine's role may come."""


class DamagedObjectError(Exception):
    """An object is not what was written."""


def check_small(key: str, num_bytes: int) -> None:
    """DamagedObjectError if a small object is too large to be one; to be asked before it is read."""
    if num_bytes > SMALL_BYTES:
        raise DamagedObjectError(f"{key} has {num_bytes:,} bytes: more than {SMALL_BYTES:,}")


class ObjectStore(Protocol):
    """Keys are paths with slashes; every object appears whole or not at all. All verbs raise OSError on failure."""

    def reach(self) -> None:
        """Ask for the first key and forget it."""
        ...

    def put_new(self, key: str, data: bytes) -> None:
        """Write a small object; FileExistsError if there is another one already, whoever else may be writing."""
        ...

    def get(self, key: str) -> bytes:
        """Return a small object; FileNotFoundError if there is none, DamagedObjectError if it has over SMALL_BYTES."""
        ...

    def upload(self, key: str, path: Path) -> list[Part]:
        """Write the file ``path`` as an object, over one that may be there; return the parts that were written."""
        ...

    def download(self, key: str, path: Path, parts: Sequence[Part]) -> None:
        """Write an object of these parts as the file ``path``; DamagedObjectError, FileNotFoundError."""
        ...

    def check(self, key: str, parts: Sequence[Part]) -> None:
        """Read an object back; DamagedObjectError, FileNotFoundError if it is not these parts."""
        ...

    def keys(self, prefix: str, min_age: float = 0.0) -> list[str]:
        """Return all keys that begin with ``prefix``, sorted; ``min_age``: seconds since they were written."""
        ...

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects; those that are not there are no error."""
        ...

    def delete_unfinished(self, prefix: str, is_old: Callable[[str], bool], min_age: float = 0.0) -> None:
        """Remove what killed writers left of objects that never appeared, of the keys that ``is_old`` says yes to."""
        ...


def read_parsed(store: ObjectStore, key: str, parse: Callable[[bytes], T]) -> T:
    """Return what ``parse`` makes of a small object that should be there; it is read up to ``READS`` times.

    Raises what ``get`` does, and what ``parse`` raises: ValueError or DamagedObjectError.
    """
    for _ in range(READS - 1):
        with suppress(ValueError, DamagedObjectError, FileNotFoundError):
            return parse(store.get(key))
    return parse(store.get(key))


def part_of(data: bytes) -> Part:
    """Return size and SHA-256 of one part."""
    return len(data), hashlib.sha256(data).hexdigest()


def check_part(key: str, data: bytes, expected: Part) -> None:
    """Raise DamagedObjectError if ``data`` is not the part that was written."""
    if part_of(data) != expected:
        raise DamagedObjectError(f"{key} is not what its manifest says")


def check_parts(key: str, file: BinaryIO, expected: Sequence[Part]) -> None:
    """Raise DamagedObjectError if what ``file`` has from here on is not exactly these parts."""
    for part in expected:
        check_part(key, file.read(part[0]), part)
    if file.read(1):
        raise DamagedObjectError(f"{key} is longer than its manifest says")


@contextmanager
def writable(path: Path) -> Iterator[BinaryIO]:
    """Open a local file to write it anew; of a full disk OSError says where it is full."""
    with named_if_full(path), path.open("wb") as file:
        yield file


@contextmanager
def named_if_full(path: Path) -> Iterator[None]:
    """Have the OSError of a disk that is full say which file could not be written, and where to free space."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise OSError(error.errno, f"cannot write {path}: {error.strerror}; free space in {path.parent}") from error
