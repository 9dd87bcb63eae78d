"""Where a command is to write its result, checked before the work that makes it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile


def check_output_folder(folder: Path, option: str = "--out") -> None:
    """Raise ValueError if no file can be written into ``folder``, which may be missing and is left as it was."""
    missing: list[Path] = []
    try:
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        is_in_the_way = isinstance(error, (FileExistsError, NotADirectoryError))
        reason = "a file is in its place" if is_in_the_way else error.strerror
        place = folder if folder.parts else Path.cwd()
        raise ValueError(
            f"nothing can be written into the folder {place} ({reason}): choose another with {option}"
        ) from error
    finally:
        for each in missing:
            with suppress(OSError):  # it was not made
                each.rmdir()


def check_output_file(path: Path, option: str = "--out") -> None:
    """Raise ValueError if ``path`` cannot be written as a file; its folder may be missing and is left as it was."""
    if path.is_dir():
        raise ValueError(f"{option} is {path}, which is a folder: name a file in it")
    check_output_folder(path.parent, option)


def check_no_source(path: Path, sources: Iterable[Path], option: str = "--out") -> None:
    """Raise ValueError if ``path`` would replace one of ``sources``."""
    if path.resolve() in {source.resolve() for source in sources}:
        raise ValueError(f"{option} is {path}, which is one of the records: name another file")
