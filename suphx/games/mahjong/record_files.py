"""Files of recorded hands: JSON, an object a line, or texts with an empty line after each; and the parts of a match."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, TypeVar

from suphx.atomic_file import write_atomically
from suphx.file_tree import files_below
from suphx.json_text import parse_json

R = TypeVar("R")

SUFFIX, TEXT_SUFFIX = ".jsonl", ".txt"
PART_SUFFIX = ".jsonl.part"
"""Of the records of a part of a match."""


def read_hands(
    path: Path, from_json: Callable[[Any], R], from_text: Callable[[str], R], *, word: str, suffixes: Collection[str]
) -> Iterator[R]:
    """Yield the hands of a file, or of all files of a folder with these ``suffixes``.

    ValueError names the file and the hand that is wrong, which is called ``word``.
    """
    files = [path]
    if path.is_dir():
        files = [file for file in files_below(path) if file.suffix in suffixes]
    for file in files:
        data = file.read_bytes()
        is_json = data.lstrip().startswith(b"{")
        parts = data.splitlines() if is_json else re.split(rb"\n\s*\n", data)
        for number, part in enumerate((part for part in parts if part.strip()), 1):
            try:
                yield from_json(parse_json(part)) if is_json else from_text(part.decode())
            except ValueError as error:
                raise ValueError(f"{file}, {word} {number}: {error}") from error


def join_parts(folder: Path, name: str) -> None:
    """Join the files of the parts of a match, in the order of its walls, into one of this ``name``."""
    parts = {path: re.fullmatch(r"(.*?)walls-(\d+)-.*", path.name) for path in folder.glob(f"*{PART_SUFFIX}")}
    order = sorted((match[1], int(match[2]), path) for path, match in parts.items() if match is not None)
    if order:
        write_atomically(folder / name, (path.read_bytes() for *_, path in order))
    for *_, path in order:
        path.unlink()
