"""Folders of game records, checked before anything is imported that takes seconds."""

from __future__ import annotations

from pathlib import Path

from suphx.file_tree import has_files_below
from suphx.suggestion import did_you_mean


def check_records(path: Path, option: str = "--records") -> None:
    """Raise ValueError if ``path`` does not exist or is a folder without any file."""
    if not path.exists():
        raise ValueError(f"{path}: no such file or folder of records: {_hint(path)}check {option}")
    if path.is_dir() and not has_files_below(path):
        raise ValueError(f"{path} is an empty folder: put game records there, or check {option}")


def _hint(path: Path) -> str:
    names = [str(each) for each in path.parent.iterdir()] if path.parent.is_dir() else []
    return did_you_mean(str(path), names)


def check_new_folder(folder: Path | None) -> None:
    """Raise ValueError if games cannot be kept in ``folder``: it has files."""
    if folder is not None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"--keep-games is {folder}, which is not an empty folder: name a new one")
