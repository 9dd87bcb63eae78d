"""The records of a match: a compressed table for each task, and an index of them."""

from __future__ import annotations

import hashlib
import json
import lzma
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from suphx.atomic_file import write_atomically
from suphx.json_text import parse_json

INDEX_FILE = "index.json"
MAX_BYTES = 64 * 2**20  # of the tables of a match: about 20,000 hanchans
_TABLES, _WALLS = "*.tsv.xz", "walls-"
_NUMBER = re.compile(r"^\d+-")


def index_records(folder: Path, max_bytes: int = MAX_BYTES) -> dict[str, int]:
    """Write the index of the tables in ``folder``, and remove the last tables if they exceed ``max_bytes``.

    The index is ``{"tables": [{"name", "games", "bytes", "sha256"}], "left_out": tables}``, in the order of the walls.
    Returns ``games`` and ``bytes`` of what is kept; nothing is written for a folder without tables.
    """
    paths = sorted(folder.glob(_TABLES), key=_first_wall)
    if not paths:
        return {"games": 0, "bytes": 0}
    tables: list[dict[str, str | int]] = []
    num_games, num_bytes, left_out, is_full = 0, 0, 0, False
    with suppress(FileNotFoundError, ValueError, KeyError, TypeError):  # what an earlier attempt has left out
        left_out = int(parse_json((folder / INDEX_FILE).read_bytes())["left_out"])
    for path in paths:
        size = path.stat().st_size
        is_full = is_full or num_bytes + size > max_bytes
        if is_full:
            path.unlink()
            left_out += 1
            continue
        num_bytes += size
        content = path.read_bytes()
        games = lzma.decompress(content).count(b"\n")
        num_games += games
        digest = hashlib.sha256(content).hexdigest()
        tables.append({"name": path.name, "games": games, "bytes": size, "sha256": digest})
    text = json.dumps({"tables": tables, "left_out": left_out}, indent=1) + "\n"
    write_atomically(folder / INDEX_FILE, [text.encode()])
    return {"games": num_games, "bytes": num_bytes}


def indexed_tables(folder: Path) -> list[Path]:
    """Return the tables that the index of ``folder`` names and that are there; none without an index."""
    path = folder / INDEX_FILE
    if not path.is_file():
        return []
    try:
        paths = [folder / table["name"] for table in parse_json(path.read_bytes())["tables"]]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged ({error}): remove it; its games are then not shown") from error
    return [each for each in paths if each.is_file()]


def first_seating(tables: Sequence[Path]) -> list[Path]:
    """Return the tables of one candidate against three opponents; all if there are none: a match in another seating."""
    return [path for path in tables if path.name.startswith(_WALLS)] or list(tables)


def number_tables(folder: Path) -> None:
    """Put a number before the name of each table: who reads a folder by name reads the games in the order of the match.

    Games of one candidate against three come first, those in subfolders last. A second call changes nothing.
    """
    for place in {path.parent for path in folder.rglob(_TABLES)}:
        names = {path: _NUMBER.sub("", path.name) for path in place.glob(_TABLES)}
        paths = sorted(names, key=lambda path: (names[path].partition(_WALLS)[0], *_first_wall(path)))
        width = len(str(len(paths)))
        for number, path in enumerate(paths, 1):
            path.rename(path.with_name(f"{number:0{width}}-{names[path]}"))


def remove_after(folder: Path, num_walls: int) -> None:
    """Remove the tables of walls behind the first ``num_walls``: games that a decided match had already begun."""
    for path in folder.glob(_TABLES):
        last = path.name.partition(".")[0].rpartition("-")[2]
        if last.isdigit() and int(last) > num_walls:
            path.unlink()


def _first_wall(path: Path) -> tuple[int, str]:
    """Return the key of the order: ``walls-17-32`` and ``2v2-walls-17-32`` come after ``walls-1-16``."""
    number = path.name.partition(_WALLS)[2].partition("-")[0].partition(".")[0]
    return (int(number) if number.isdigit() else 0, path.name)
