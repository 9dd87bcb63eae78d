"""Files of records: JSON lines, or the text of one game; or folders of such files.

>>> for record in find_records(Path("games")):
...     print(record_text(record))
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path

from suphx.file_tree import files_below
from suphx.games.doudizhu.records.game_record import GameRecord, decoded, read_records
from suphx.games.doudizhu.records.text import parse_record

_SUFFIXES = (".jsonl", ".json", ".txt")
"""Of the files in a folder that are read."""


def find_records(path: Path) -> Iterator[GameRecord]:
    """Yield the games of a file or a folder, file by file in order; ValueError names the file that is no record."""
    if path.is_dir():
        files = [file for file in files_below(path) if file.suffix in _SUFFIXES]
        if not files:
            raise ValueError(f"{path} has no records: they end in {', '.join(_SUFFIXES)}")
    else:
        files = [path]
    for file in files:
        yield from read_records(file) if _is_json(file) else [_read_text(file)]


def _is_json(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(1024).removeprefix(BOM_UTF8).lstrip().startswith(b"{")


def _read_text(file: Path) -> GameRecord:
    try:
        return parse_record(decoded(file.read_bytes().removeprefix(BOM_UTF8)))
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error
