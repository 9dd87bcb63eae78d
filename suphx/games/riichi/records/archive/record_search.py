"""Finds one game in a file or folder of records, without parsing those before it."""

from __future__ import annotations

from pathlib import Path

from suphx.file_tree import files_below
from suphx.games.riichi.records.archive.archive import parse_record
from suphx.games.riichi.records.archive.quarantine import Quarantine
from suphx.games.riichi.records.archive.raw_record import RawRecord, iter_texts
from suphx.games.riichi.records.log.gamelog import GameLog
from suphx.printable_text import printable


def find_record(path: Path, wanted: str = "") -> GameLog:
    """Return one game of ``path`` (files and folders as in archive.py); a game without its end has its finished kyokus.

    ``wanted``: its id, or its number from 1 on in the order of the files; "" for the first. If a file of the folder
    ``path`` has that name, the id comes first. ValueError if there is no such game or it cannot be read.
    """
    is_name = (
        wanted.isdigit() and path.is_dir() and any(file.name.startswith(f"{wanted}.") for file in files_below(path))
    )
    quarantine = Quarantine()
    count = 0
    numbered: RawRecord | None = None
    for raw in iter_texts([path], quarantine=quarantine):
        count += 1
        if wanted in ("", raw.id):
            return _parsed(raw)
        if wanted == str(count):
            numbered = raw
            if not is_name:
                break
    if numbered is not None:
        return _parsed(numbered)
    for entry in quarantine.entries:
        if not count:
            raise ValueError(f"{entry.file} has no game: {entry.reason}; {entry.remedy}")
    if not count:
        raise ValueError(f"{path} has no game: it is empty")
    raise ValueError(f"{path} has no game {wanted!r}: give the id of a game or a number from 1 to {count:,}")


def _parsed(raw: RawRecord) -> GameLog:
    log = parse_record(True, raw)
    if isinstance(log, GameLog):
        return log
    place = f"{log.file}, {log.position}" if log.position else log.file
    raise ValueError(printable(f"{place}: {log.reason}; {log.remedy}"))
