"""Files by name in a folder or in a bucket: the few verbs that storage.py needs, and how objects are checked.

``FolderStore`` and ``BucketStore`` have them. What is relied on is safe on every S3-compatible server: whole single
puts, puts of small objects that must not exist yet (``If-None-Match: *``), multipart uploads that appear whole or not
at all, ranged reads.
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

PART_BYTES = 16 * 2**20

Part = tuple[int, str]
"""Size and SHA-256 of up to ``PART_BYTES`` bytes of an object; an empty object has no parts."""

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class DamagedObjectError(Exception):
    """An object is not what was written."""


class ObjectStore(Protocol):
    """Keys are paths with slashes; every object appears whole or not at all. All verbs raise OSError on failure."""

    def put_new(self, key: str, data: bytes) -> None:
        """Write a small object; FileExistsError if there is another one already, whoever else may be writing."""
        ...

    def get(self, key: str) -> bytes:
        """Return a small object; FileNotFoundError if there is none."""
        ...

    def upload(self, key: str, path: Path) -> list[Part]:
        """Write the file ``path`` as an object, over one that may be there; return the parts that were written."""
        ...

    def download(self, key: str, path: Path, parts: Sequence[Part]) -> None:
        """Write an object of these parts as the file ``path``; DamagedObjectError, FileNotFoundError."""
        ...

    def keys(self, prefix: str) -> list[str]:
        """Return all keys that begin with ``prefix``, sorted."""
        ...

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects; those that are not there are no error."""
        ...

    def delete_unfinished(self, prefix: str, is_old: Callable[[str], bool]) -> None:
        """Remove what killed writers left of objects that never appeared, of the keys that ``is_old`` says yes to."""
        ...


def part_of(data: bytes) -> Part:
    """Return size and SHA-256 of one part."""
    return len(data), hashlib.sha256(data).hexdigest()


def check_part(key: str, data: bytes, expected: Part) -> None:
    """Raise DamagedObjectError if ``data`` is not the part that was written."""
    if part_of(data) != expected:
        raise DamagedObjectError(f"{key} is not what its manifest says")


@contextmanager
def writable(path: Path) -> Iterator[BinaryIO]:
    """Open a local file to write it anew; of a full disk OSError says where it is full."""
    try:
        with path.open("wb") as file:
            yield file
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise OSError(error.errno, f"cannot write {path}: {error.strerror}; free space in {path.parent}") from error
