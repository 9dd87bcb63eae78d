"""Files of recorded hands: JSON, an object a line, or texts with an empty line after each; and the parts of a match."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, TypeVar

from suphx.atomic_file import write_atomically
from suphx.file_tree import files_below
from suphx.json_text import parse_json

R = TypeVar("R")

SUFFIX, TEXT_SUFFIX, GZIP_SUFFIX = ".jsonl", ".txt", ".gz"
PART_SUFFIX = ".jsonl.part"
"""Of the records of a part of a match."""


def read_hands(
    path: Path,
    from_json: Callable[[Any], R],
    from_text: Callable[[str], R],
    *,
    word: str,
    suffixes: Collection[str],
    set_aside: Callable[[str, ValueError], None] | None = None,
) -> Iterator[R]:
    """Yield the hands of a file, or of all files of a folder with these ``suffixes``; ``.gz`` may follow.

    ValueError names the file and the hand that is wrong, which is called ``word``; ``set_aside`` gets both instead.
    """
    files = [path]
    if path.is_dir():
        files = [file for file in files_below(path) if Path(file.name.removesuffix(GZIP_SUFFIX)).suffix in suffixes]
    for file in files:
        try:
            data = gzip.decompress(file.read_bytes()) if file.suffix == GZIP_SUFFIX else file.read_bytes()
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            if set_aside is None:
                raise ValueError(f"{file} is damaged: {error}") from error
            set_aside(str(file), ValueError(f"damaged: {error}"))
            continue
        is_json = data.lstrip().startswith(b"{")
        parts = data.splitlines() if is_json else re.split(rb"\n\s*\n", data)
        for number, part in enumerate((part for part in parts if part.strip()), 1):
            try:
                yield from_json(parse_json(part)) if is_json else from_text(part.decode())
            except ValueError as error:
                if set_aside is None:
                    raise ValueError(f"{file}, {word} {number}: {error}") from error
                set_aside(f"{file}, {word} {number}", error)


def join_parts(folder: Path, name: str) -> None:
    """Join the files of the parts of a match, in the order of its walls, into one of this ``name``."""
    parts = {path: re.fullmatch(r"(.*?)walls-(\d+)-.*", path.name) for path in folder.glob(f"*{PART_SUFFIX}")}
    order = sorted((match[1], int(match[2]), path) for path, match in parts.items() if match is not None)
    if order:
        write_atomically(folder / name, (path.read_bytes() for *_, path in order))
    for *_, path in order:
        path.unlink()
