"""Files of recorded hands: JSON, an object a line, or texts with an empty line after each; and the parts of a match."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from suphx.atomic_file import write_atomically
from suphx.file_tree import files_below
from suphx.games.record_tools import json_line
from suphx.json_text import parse_json

R = TypeVar("R")

SUFFIX, TEXT_SUFFIX, GZIP_SUFFIX = ".jsonl", ".txt", ".gz"
PART_SUFFIX = ".jsonl.part"
"""Of the records of a part of a match."""


class HandFiles(Generic[R]):
    """The files of records of a game: JSON lines, texts, and what else the game has."""

    def __init__(
        self,
        more_forms: Mapping[str, tuple[str, Callable[[R], str]]],
        from_json: Callable[[Any], R],
        from_text: Callable[[str], R],
        to_text: Callable[[R], str],
        *,
        word: str,
    ) -> None:
        """``more_forms`` by name: the ending of a file, and what makes the text of a hand, with the line ends after it.

        ``word``: what a hand is called. ``to_json`` of a record is its JSON object.
        """
        self.forms: dict[str, tuple[str, Callable[[R], str]]] = {
            "json": (SUFFIX, json_line),
            "text": (TEXT_SUFFIX, lambda record: f"{to_text(record)}\n"),
            **more_forms,
        }
        self._from_json, self._from_text, self._word = from_json, from_text, word

    def write(self, records: Iterable[R], path: Path) -> None:
        """Write hands to a file, in the form of its ending; JSON lines if it has another one."""
        write = next((write for suffix, write in self.forms.values() if suffix == path.suffix), json_line)
        write_atomically(path, (write(record).encode() for record in records))

    def read(self, path: Path, set_aside: Callable[[str, ValueError], None] | None = None) -> Iterator[R]:
        """Yield the hands of a file of any form, or of all files of a folder; ``.gz`` may follow the endings.

        ValueError names the file and the hand; ``set_aside`` gets both instead.
        """

        def refuse(place: str, error: ValueError) -> None:
            if set_aside is None:
                raise ValueError(f"{place}: {error}") from error
            set_aside(place, error)

        suffixes = [suffix for suffix, _ in self.forms.values()]
        files = [path]
        if path.is_dir():
            files = [file for file in files_below(path) if Path(file.name.removesuffix(GZIP_SUFFIX)).suffix in suffixes]
        for file in files:
            try:
                data = gzip.decompress(file.read_bytes()) if file.suffix == GZIP_SUFFIX else file.read_bytes()
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                refuse(str(file), ValueError(f"damaged: {error}"))
                continue
            is_list = data.lstrip().startswith(b"[")  # one hand: the log of an arena
            is_json = is_list or data.lstrip().startswith(b"{")
            parts = [data] if is_list else data.splitlines() if is_json else re.split(rb"\n\s*\n", data)
            for number, part in enumerate((part for part in parts if part.strip()), 1):
                try:
                    record = self._from_json(parse_json(part)) if is_json else self._from_text(part.decode())
                except ValueError as error:
                    refuse(f"{file}, {self._word} {number}", error)
                else:
                    yield record

    def parse(self, line: str) -> R:
        """Return the hand of a line of JSON; ValueError for another text."""
        return self._from_json(parse_json(line))

    def join(self, folder: Path) -> None:
        """Join the files of the parts of a match, in the order of its walls, into one, such as ``hands.jsonl``.

        A file that is there has all of them: an earlier call was cut off while it removed the parts.
        """
        parts = {path: re.fullmatch(r"(.*?)walls-(\d+)-.*", path.name) for path in folder.glob(f"*{PART_SUFFIX}")}
        order = sorted((match[1], int(match[2]), path) for path, match in parts.items() if match is not None)
        joined = folder / f"{self._word}s{SUFFIX}"
        if order and not joined.exists():
            write_atomically(joined, (path.read_bytes() for *_, path in order))
        for *_, path in order:
            path.unlink()
