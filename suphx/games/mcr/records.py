"""Files of recorded games: JSON lines of our own, the text form of the contests, and Botzone's logs, a line each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from suphx.atomic_file import write_atomically
from suphx.games.mahjong.record_files import SUFFIX, TEXT_SUFFIX, join_parts, read_hands
from suphx.games.mcr.botzone import game_log, parse_log
from suphx.games.mcr.record import GameRecord
from suphx.games.mcr.record_text import parse_text, record_text

LOG_SUFFIX = ".json"


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
    return read_hands(path, _from_json, parse_text, word="game", suffixes=(SUFFIX, TEXT_SUFFIX, LOG_SUFFIX))


def _from_json(values: Any) -> GameRecord:
    if not isinstance(values, dict):
        raise ValueError(f"{values!r:.80} is no JSON object of a game")
    return GameRecord.from_json(values) if "game" in values else parse_log(values)


def join_records(folder: Path) -> None:
    """Join the files of the parts of a match, in the order of its walls, into one: ``games.jsonl``."""
    join_parts(folder, "games.jsonl")
