"""Objects (see object_store.py) as files of a folder, such as one of a shared disk."""

from __future__ import annotations

import errno
import os
import re
import stat
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from suphx.atomic_file import sync
from suphx_platform.storage.objects.folder_sync import make_folder
from suphx_platform.storage.objects.object_store import (
    PART_BYTES,
    Part,
    check_part,
    check_parts,
    check_small,
    part_of,
    writable,
)

_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)
_FOLDER_ATTEMPTS = 10
"""How often a folder is created that another process removes, because it is empty, before a file is in it."""
_PARTIAL = re.compile(r"\.(.+)\.[0-9a-f]{32}\.partial")


class FolderStore:
    """Objects are files below ``root``; what is being written has a name that begins with a dot."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._identity: tuple[int, int] | None = None
        """Device and inode of the folder when it was used first."""

    def reach(self) -> None:
        """Look into the folder, which need not be there yet."""
        with suppress(FileNotFoundError), os.scandir(self._root) as found:
            next(found, None)

    def put_new(self, key: str, data: bytes) -> None:
        """Write a small object that must not exist."""
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
        """Return a small object."""
        with (self._root / key).open("rb") as file:
            check_small(key, os.fstat(file.fileno()).st_size)
            return file.read()

    def upload(self, key: str, path: Path) -> list[Part]:
        """Copy a file in."""
        target = self._root / key
        parts = []
        with self._partial(target) as partial:
            with path.open("rb") as source, writable(partial) as copy:
                while data := source.read(PART_BYTES):
                    parts.append(part_of(data))
                    copy.write(data)
            sync(partial)
            partial.replace(target)
        sync(target.parent)  # before a manifest names the file
        return parts

    def download(self, key: str, path: Path, parts: Sequence[Part]) -> None:
        """Copy a file out."""
        with (self._root / key).open("rb") as source, writable(path) as copy:
            for part in parts:
                data = source.read(part[0])
                check_part(key, data, part)
                copy.write(data)
            check_parts(key, source, [])

    def check(self, key: str, parts: Sequence[Part]) -> None:
        """Read an object back."""
        with (self._root / key).open("rb") as file:
            check_parts(key, file, parts)

    def keys(self, prefix: str, min_age: float = 0.0) -> list[str]:
        """Return all keys that begin with ``prefix``, sorted."""
        self._check_root()
        files = (path for path in self._files(prefix) if not _PARTIAL.fullmatch(path.name))
        return sorted(self._key(path) for path in files if _is_aged(path, min_age))

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects, and folders that are empty then."""
        for key in keys:
            self._remove(self._root / key)

    def delete_unfinished(self, prefix: str, is_old: Callable[[str], bool], min_age: float = 0.0) -> None:
        """Remove copies that were never renamed."""
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
        below = self._root / prefix.rpartition("/")[0]
        found = (
            Path(folder) / name for folder, _, names in os.walk(below, onerror=_pass_over_removed) for name in names
        )
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
                make_folder(path.parent)
                partial.touch()
                break
        try:
            yield partial
        finally:
            partial.unlink(missing_ok=True)


def _pass_over_removed(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def _is_aged(path: Path, min_age: float) -> bool:
    if min_age <= 0:
        return True
    try:
        return time.time() - path.stat().st_mtime >= min_age
    except FileNotFoundError:  # another process has removed it
        return False
