"""What is wrong with the result of a stage, kept in its folder so that every reader of the run sees it."""

from __future__ import annotations

from pathlib import Path

from suphx.credentials import without_credentials
from suphx_pipelines.engine.json_file import read_json, write_json

WARNINGS_FILE = "warnings.json"


def add_warning(folder: Path, text: str) -> None:
    """Add ``text``, without the passwords of addresses, to the warnings of the stage in ``folder``, once."""
    text = without_credentials(text)
    warnings = read_warnings(folder)
    if text not in warnings:
        write_json(folder / WARNINGS_FILE, {"warnings": [*warnings, text]})


def read_warnings(folder: Path) -> list[str]:
    """Return the warnings of the stage in ``folder``; ValueError if the file is damaged."""
    path = folder / WARNINGS_FILE
    if not path.is_file():
        return []
    warnings = read_json(path).get("warnings")
    if not isinstance(warnings, list):
        raise ValueError(f"{path} is damaged: remove it")
    return [str(warning) for warning in warnings]


def clear_warnings(folder: Path) -> None:
    """Remove the warnings of an earlier attempt."""
    (folder / WARNINGS_FILE).unlink(missing_ok=True)
