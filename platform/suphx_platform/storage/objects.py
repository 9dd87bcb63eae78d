"""Objects by name: what a storage needs of the place where files are kept, how objects are checked, and folders.

``FolderStore`` and ``BucketStore`` (bucket.py) have the same few verbs. What a storage relies on is safe on every
S3-compatible server: whole single puts, puts of small objects that must not exist yet (``If-None-Match: *``), multipart
uploads that appear whole or not at all, ranged reads.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import stat
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

from suphx.atomic_file import sync

SMALL_BYTES = 16 * 2**20
"""Of an object that is read at once, such as a manifest with 100,000 files."""
Digest = tuple[int, str]
"""Size and SHA-256 of a file."""
READS = 3
"""How often a small object is read before it is taken for damaged or missing: an answer may be damaged on its way."""

T = TypeVar("T")

_COPY_BYTES = 2**20
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)
_FOLDER_ATTEMPTS = 10
"""How often a folder is created that another process removes, because it is empty, before a file is in it."""
_PARTIAL = re.compile(r"\.(.+)\.[0-9a-f]{32}\.partial")


class ExpiredKeysError(OSError):
    """The server no longer accepts temporary keys; new ones of the machine's role may come."""


class DamagedObjectError(Exception):
    """An object is not what was written."""


class HashedStream:
    """Hashes the bytes that are read from a file, or written to it, in their order; without a file it only hashes."""

    def __init__(self, file: BinaryIO | None = None) -> None:
        self._file = file
        self._hash, self._size = hashlib.sha256(), 0

    @property
    def digest(self) -> Digest:
        """Of the bytes so far."""
        return self._size, self._hash.hexdigest()

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes of the file."""
        assert self._file is not None
        data = self._file.read(size)
        self._add(data)
        return data

    def write(self, data: bytes) -> None:
        """Take the next bytes."""
        self._add(data)
        if self._file is not None:
            self._file.write(data)

    def _add(self, data: bytes) -> None:
        self._hash.update(data)
        self._size += len(data)


def copy_hashed(source: BinaryIO, target: BinaryIO | None = None) -> Digest:
    """Copy the rest of a file, or only read it, and return the digest of these bytes."""
    copy = HashedStream(target)
    shutil.copyfileobj(source, copy, _COPY_BYTES)
    return copy.digest


def check_digest(key: str, found: Digest, expected: Digest) -> None:
    """DamagedObjectError if an object is not what was written."""
    if found != expected:
        raise DamagedObjectError(f"{key} is not what its manifest says")


class FolderStore:
    """Objects are files below ``root``; what is being written has a name that begins with a dot.

    Keys are paths with slashes; every object appears whole or not at all. All verbs raise OSError on failure.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._identity: tuple[int, int] | None = None
        """Device and inode of the folder when it was used first."""

    def reach(self) -> None:
        """Look into the folder, which need not be there yet."""
        with suppress(FileNotFoundError), os.scandir(self._root) as found:
            next(found, None)

    def put_new(self, key: str, data: bytes) -> None:
        """Write a small object; FileExistsError if there is another one already, whoever else may be writing."""
        path = self._root / key
        with self._partial(path) as partial:
            with writable(partial) as file:
                file.write(data)
            sync(partial)
            try:
                os.link(partial, path)  # unlike a rename it never replaces what is there
            except FileExistsError:
                # A shared disk may ask twice: then it is ours. What another writer has put there may be gone again.
                if partial.stat().st_nlink == 1:
                    raise
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                text = f"{self._root}: its disk has no hard links ({error.strerror}): use a folder of another disk, or"
                raise OSError(error.errno, f"{text} s3://bucket/prefix, as storage.address") from error
            sync(path.parent)  # while the partial file keeps others from removing the folder

    def get(self, key: str) -> bytes:
        """Return a small object; FileNotFoundError if there is none, DamagedObjectError if it has over SMALL_BYTES."""
        with (self._root / key).open("rb") as file:
            check_small(key, os.fstat(file.fileno()).st_size)
            return file.read()

    def upload(self, key: str, path: Path) -> Digest:
        """Write the file ``path`` as an object, over one that may be there; return the digest of what was written."""
        target = self._root / key
        with self._partial(target) as partial:
            with path.open("rb") as source, writable(partial) as copy:
                digest = copy_hashed(source, copy)
            sync(partial)
            partial.replace(target)
        sync(target.parent)  # before a manifest names the file
        return digest

    def download(self, key: str, path: Path, digest: Digest) -> None:
        """Write an object of this digest as the file ``path``; DamagedObjectError, FileNotFoundError."""
        with (self._root / key).open("rb") as source, writable(path) as copy:
            check_digest(key, copy_hashed(source, copy), digest)

    def check(self, key: str, digest: Digest) -> None:
        """Read an object back; DamagedObjectError, FileNotFoundError if it is not the one of this digest."""
        with (self._root / key).open("rb") as file:
            check_digest(key, copy_hashed(file), digest)

    def keys(self, prefix: str, min_age: float = 0.0) -> list[str]:
        """Return all keys that begin with ``prefix``, sorted; ``min_age``: seconds since they were written."""
        self._check_root()
        files = (path for path in self._files(prefix) if not _PARTIAL.fullmatch(path.name))
        return sorted(self._key(path) for path in files if _is_aged(path, min_age))

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects, and folders that are empty then; those that are not there are no error."""
        for key in keys:
            self._remove(self._root / key)

    def delete_unfinished(self, prefix: str, is_old: Callable[[str], bool], min_age: float = 0.0) -> None:
        """Remove what killed writers left of objects that never appeared, of the keys that ``is_old`` says yes to."""
        for path in self._files(prefix):
            partial = _PARTIAL.fullmatch(path.name)
            if partial and is_old(self._key(path.with_name(partial[1]))) and _is_aged(path, min_age):
                self._remove(path)

    def _check_root(self) -> None:
        """OSError if the folder is gone, or another one that is empty, as when its disk is not mounted.

        It would be created again. Another one with files is a copy on a new disk, or that of a file system whose inodes
        change; marks of writers show whether it is the same storage.
        """
        known = self._identity  # before the look: another thread may create the folder
        identity: tuple[int, int] | None = None
        with suppress(FileNotFoundError):
            found = self._root.stat()
            identity = (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None
        if known not in (None, identity) and (identity is None or not any(self._root.iterdir())):
            raise OSError(
                f"{self._root} is no longer the folder that it was: look whether its disk is mounted, or move it back"
            )
        self._identity = identity or self._identity

    def _files(self, prefix: str) -> list[Path]:
        def pass_over_removed(error: OSError) -> None:
            if not isinstance(error, FileNotFoundError):
                raise error

        below = os.walk(self._root / prefix.rpartition("/")[0], onerror=pass_over_removed)
        found = (Path(folder, name) for folder, _, names in below for name in names)
        return [path for path in found if self._key(path).startswith(prefix)]

    def _key(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix()

    def _remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        with suppress(OSError):  # not empty yet, or another process was faster
            for folder in path.parents:
                if folder == self._root:
                    break
                folder.rmdir()

    @contextmanager
    def _partial(self, path: Path) -> Iterator[Path]:
        """Yield a new empty file, beside ``path``, that may be renamed or linked."""
        self._check_root()
        partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}.partial")
        for attempt in range(_FOLDER_ATTEMPTS):
            with suppress(FileNotFoundError) if attempt + 1 < _FOLDER_ATTEMPTS else nullcontext():
                _make_folder(path.parent)
                partial.touch()
                break
        try:
            yield partial
        finally:
            partial.unlink(missing_ok=True)


def read_parsed(get: Callable[[str], bytes], key: str, parse: Callable[[bytes], T]) -> T:
    """Return what ``parse`` makes of a small object that should be there; it is read up to ``READS`` times.

    Raises what ``get`` does, and what ``parse`` raises: ValueError or DamagedObjectError.
    """
    for _ in range(READS - 1):
        with suppress(ValueError, DamagedObjectError, FileNotFoundError):
            return parse(get(key))
    return parse(get(key))


def check_small(key: str, num_bytes: int) -> None:
    """DamagedObjectError if a small object is too large to be one; to be asked before it is read."""
    if num_bytes > SMALL_BYTES:
        raise DamagedObjectError(f"{key} has {num_bytes:,} bytes: more than {SMALL_BYTES:,}")


@contextmanager
def writable(path: Path) -> Iterator[BinaryIO]:
    """Open a local file to replace it; the OSError of a full disk says which file, and where to free space."""
    try:
        with path.open("wb") as file:
            yield file
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise OSError(error.errno, f"cannot write {path}: {error.strerror}; free space in {path.parent}") from error


def _make_folder(folder: Path) -> None:
    """Create a folder and those above it that are missing; the disk has the names of those that are new."""
    missing = []
    place = folder
    while not place.is_dir():
        missing.append(place)
        place = place.parent
    folder.mkdir(parents=True, exist_ok=True)
    for each in reversed(missing):
        sync(each.parent)


def _is_aged(path: Path, min_age: float) -> bool:
    if min_age <= 0:
        return True
    try:
        return time.time() - path.stat().st_mtime >= min_age
    except FileNotFoundError:  # another process has removed it
        return False
