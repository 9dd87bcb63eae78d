"""What a storage needs of the place where files are kept (``ObjectStore``), and folders as such a place.

What a storage relies on is safe on every S3-compatible server: whole single puts, puts of small objects that must not
exist yet (``If-None-Match: *``), multipart uploads that appear whole or not at all, ranged reads.
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
from typing import Protocol

from suphx.atomic_file import sync

SMALL_BYTES = 16 * 2**20
"""The largest object that is read at once, such as a manifest with 100,000 files."""
Digest = tuple[int, str]
"""Size and SHA-256 of a file."""

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)
_FOLDER_ATTEMPTS = 10
"""How often a folder is created that another process removes, because it is empty, before a file is in it."""
_PARTIAL = re.compile(r"\.(.+)\.[0-9a-f]{32}\.partial")


class ExpiredKeysError(OSError):
    """The server no longer accepts temporary keys; the machine's role may provide new ones."""


class DamagedObjectError(Exception):
    """An object is not what was written."""


class ObjectStore(Protocol):
    """Where a storage keeps its objects: ``FolderStore``, or ``BucketStore`` (bucket.py).

    Keys are paths with slashes, and objects appear whole or not at all. All methods may be called by several threads
    and raise OSError on failure; those that read raise FileNotFoundError if there is no such object.
    """

    def reach(self) -> None:
        """Check that the place answers; PermissionError if it refuses the credentials."""

    def put_new(self, key: str, data: bytes) -> None:
        """Write a small object; FileExistsError if there is one already. Of several writers exactly one succeeds."""

    def get(self, key: str) -> bytes:
        """Return a small object; DamagedObjectError if it has over SMALL_BYTES (``check_small``)."""

    def upload(self, key: str, path: Path) -> None:
        """Write the file ``path`` as an object, over one that may be there."""

    def download(self, key: str, path: Path) -> None:
        """Write an object as the file ``path``."""

    def digest(self, key: str) -> Digest:
        """Read an object back, and return its digest."""

    def keys(self, prefix: str, min_age: float = 0.0) -> list[str]:
        """Return all keys that begin with ``prefix``, sorted; ``min_age``: seconds since they were written."""

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects in this order; a missing object is not an error."""

    def delete_unfinished(self, prefix: str, is_old: Callable[[str], bool], min_age: float = 0.0) -> None:
        """Remove what interrupted uploads of the keys that ``is_old`` accepts have left."""


def file_digest(path: Path) -> Digest:
    """Return the digest of a file."""
    with path.open("rb") as file:
        return os.fstat(file.fileno()).st_size, hashlib.file_digest(file, "sha256").hexdigest()


class FolderStore:
    """Objects are files below ``root``; a file that is being written has a name that begins with a dot."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._identity: tuple[int, int] | None = None
        """Device and inode of the folder when it was used first."""

    def reach(self) -> None:
        """List the folder, which need not exist yet."""
        with suppress(FileNotFoundError), os.scandir(self._root) as found:
            next(found, None)

    def put_new(self, key: str, data: bytes) -> None:
        """Write a small object; FileExistsError if there is another one already, whoever else may be writing."""
        path = self._root / key
        with self._partial(path) as partial:
            with room_for(partial):
                partial.write_bytes(data)
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

    def upload(self, key: str, path: Path) -> None:
        """Write the file ``path`` as an object, over one that may be there."""
        target = self._root / key
        with self._partial(target) as partial:
            with room_for(partial):
                shutil.copyfile(path, partial)
            sync(partial)
            partial.replace(target)
        sync(target.parent)  # before a manifest names the file

    def download(self, key: str, path: Path) -> None:
        """Write an object as the file ``path``; FileNotFoundError if there is none."""
        with room_for(path):
            shutil.copyfile(self._root / key, path)

    def digest(self, key: str) -> Digest:
        """Read an object back; FileNotFoundError if there is none."""
        return file_digest(self._root / key)

    def keys(self, prefix: str, min_age: float = 0.0) -> list[str]:
        """Return all keys that begin with ``prefix``, sorted; ``min_age``: seconds since they were written."""
        self._check_root()
        files = (path for path in self._files(prefix) if not _PARTIAL.fullmatch(path.name))
        return sorted(self._key(path) for path in files if _is_aged(path, min_age))

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects, and folders that are empty then; a missing object is not an error."""
        for key in keys:
            self._remove(self._root / key)

    def delete_unfinished(self, prefix: str, is_old: Callable[[str], bool], min_age: float = 0.0) -> None:
        """Remove what killed writers left of objects that never appeared, for the keys that ``is_old`` accepts."""
        for path in self._files(prefix):
            partial = _PARTIAL.fullmatch(path.name)
            if partial and is_old(self._key(path.with_name(partial[1]))) and _is_aged(path, min_age):
                self._remove(path)

    def _check_root(self) -> None:
        """OSError if the folder is gone, or another one that is empty, as when its disk is not mounted.

        Otherwise it would be created again. Another folder with files is a copy on a new disk, or a file system whose
        inodes change; marks of writers show whether it is the same storage.
        """
        known = self._identity  # before the look: another thread may create the folder
        identity: tuple[int, int] | None = None
        with suppress(FileNotFoundError):
            found = self._root.stat()
            identity = (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None
        if known not in (None, identity) and (identity is None or not any(self._root.iterdir())):
            raise OSError(
                f"{self._root} is no longer the folder that it was: check that its disk is mounted, or move it back"
            )
        self._identity = identity or self._identity

    def _files(self, prefix: str) -> list[Path]:
        def skip_removed(error: OSError) -> None:
            if not isinstance(error, FileNotFoundError):
                raise error

        below = os.walk(self._root / prefix.rpartition("/")[0], onerror=skip_removed)
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
        """Yield a new empty file beside ``path`` that may be renamed or linked."""
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


def check_small(key: str, num_bytes: int) -> None:
    """DamagedObjectError, before it is read, if an object is too large to be a small one."""
    if num_bytes > SMALL_BYTES:
        raise DamagedObjectError(f"{key} has {num_bytes:,} bytes: more than {SMALL_BYTES:,}")


@contextmanager
def room_for(path: Path) -> Iterator[None]:
    """Name the file, and where to free space, in the OSError of a full disk while the block writes ``path``."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise OSError(error.errno, f"cannot write {path}: {error.strerror}; free space in {path.parent}") from error


def _make_folder(folder: Path) -> None:
    """Create a folder and its missing parents, and wait until the disk has the names of the new ones."""
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
