"""Files that are whole or absent: written under a temporary name in the same folder, then renamed."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


def write_atomically(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write ``parts`` one after another as the file ``path``; on any failure the old file, if there is one, stays.

    Raises OSError with one line that says what, where and what to do (disk full, folder missing, not allowed).
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.partial")
    try:
        try:
            with temporary.open("wb") as file:
                for part in parts:
                    file.write(part)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OSError(error.errno, _message(path, error)) from error
    sync(path.parent)  # so that the new name itself survives a power cut


def remove_partial(folder: Path) -> None:
    """Remove what killed processes have left of files in ``folder`` and below; no process may be writing there."""
    for path in folder.rglob(".*.partial"):
        path.unlink()


@contextmanager
def many_files(folder: Path) -> Iterator[list[Path]]:
    """Say in an OSError of the block how many files were written before it; the block adds each to what it is given."""
    written: list[Path] = []
    try:
        yield written
    except OSError as error:
        if not written:
            raise
        files = "1 file was" if len(written) == 1 else f"{len(written):,} files were"
        told = f"{error}" if error.strerror is None else error.strerror
        remedy = f"{files} written to {folder} before: run the command again, which replaces them"
        raise OSError(error.errno, f"{told}; {remedy}") from error


def _message(path: Path, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        remedy = f"create the folder {path.parent}"
    elif isinstance(error, PermissionError):
        remedy = f"make the folder {path.parent} writable or choose another"
    elif isinstance(error, IsADirectoryError):
        remedy = "name a file, not a folder"
    elif isinstance(error, NotADirectoryError):
        remedy = f"{path.parent} is not a folder: choose another"
    else:
        remedy = f"free space in {path.parent} or choose another folder"
    return f"cannot write {path}: {error.strerror}; {remedy}; {path.name} was not changed"


def sync(path: Path) -> None:
    """Return when the disk has a file, or the names in a folder; at once on Windows, which cannot be asked so."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
