"""What a stage keeps in its folder for MLflow: a note for the description of its run, and pages of their own form."""

from __future__ import annotations

from pathlib import Path

from suphx.atomic_file import write_atomically
from suphx.credentials import without_credentials

NOTE_FILE = "note.md"
TRACKED_FOLDER = "mlflow"
"""Pages in the form that MLflow gets instead of those of the same name: it shows a page in a frame, where no link to
another file or page works."""


def write_note(folder: Path, text: str) -> None:
    """Keep ``text``, in Markdown and without the passwords of addresses, as the note of the stage in ``folder``."""
    write_atomically(folder / NOTE_FILE, [without_credentials(text).encode()])


def read_note(folder: Path) -> str:
    """Return the note of the stage in ``folder``; empty if it has none."""
    path = folder / NOTE_FILE
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
