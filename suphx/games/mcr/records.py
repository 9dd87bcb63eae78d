"""Files of recorded games: JSON lines of our own, the text form of the contests, and Botzone's logs, a line each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from suphx.atomic_file import write_atomically
from suphx.file_tree import files_below
from suphx.games.mcr.botzone import game_log, parse_log
from suphx.games.mcr.record import GameRecord
from suphx.games.mcr.record_text import parse_text, record_text
from suphx.json_text import parse_json

SUFFIX, TEXT_SUFFIX, LOG_SUFFIX = ".jsonl", ".txt", ".json"
PART_SUFFIX = ".jsonl.part"
"""Of the records of a part of a match."""


def write_records(records: Iterable[GameRecord], path: Path) -> None:
    """Write games to a file: the text form if its name ends in ``.txt``, with an empty line after each game; Botzone's
    logs, a line each, if it ends in ``.json``; else JSON lines of our own."""
    if path.suffix == TEXT_SUFFIX:
        write_atomically(path, (f"{record_text(record)}\n".encode() for record in records))
    elif path.suffix == LOG_SUFFIX:
        write_atomically(path, (f"{json.dumps(game_log(record))}\n".encode() for record in records))
    else:
        write_atomically(path, (f"{json.dumps(record.to_json())}\n".encode() for record in records))


def read_records(path: Path) -> Iterator[GameRecord]:
    """Yield the games of a file of any form, or of all files of a folder; ValueError names the file and the game."""
    files = [path]
    if path.is_dir():
        files = [file for file in files_below(path) if file.suffix in (SUFFIX, TEXT_SUFFIX, LOG_SUFFIX)]
    for file in files:
        data = file.read_bytes()
        is_json = data.lstrip().startswith(b"{")
        parts = data.splitlines() if is_json else re.split(rb"\n\s*\n", data)
        for number, part in enumerate((part for part in parts if part.strip()), 1):
            try:
                yield _of_json(parse_json(part)) if is_json else parse_text(part.decode())
            except ValueError as error:
                raise ValueError(f"{file}, game {number}: {error}") from error


def _of_json(values: Any) -> GameRecord:
    if "game" in values:
        return GameRecord.from_json(values)
    return parse_log(values)


def join_records(folder: Path) -> None:
    """Join the files of the parts of a match, in the order of its walls, into one: ``games.jsonl``."""
    parts = {path: re.fullmatch(r"(.*?)walls-(\d+)-.*", path.name) for path in folder.glob(f"*{PART_SUFFIX}")}
    order = sorted((match[1], int(match[2]), path) for path, match in parts.items() if match is not None)
    if order:
        write_atomically(folder / "games.jsonl", (path.read_bytes() for *_, path in order))
    for *_, path in order:
        path.unlink()
