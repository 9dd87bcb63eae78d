"""Writes games to files: one file per game in a folder, or one table (.tsv, .tsv.xz) with a line per game."""

from __future__ import annotations

import gzip
import lzma
import re
from collections.abc import Iterable, Iterator, Set
from itertools import chain, count
from pathlib import Path
from typing import Literal, get_args

from suphx.atomic_file import write_atomically
from suphx.games.riichi.records.archive.archive import iter_records
from suphx.games.riichi.records.archive.quarantine import Quarantine
from suphx.games.riichi.records.log.gamelog import GameLog
from suphx.games.riichi.records.log.record_error import ILLEGAL_RECORD, NOT_WRITABLE
from suphx.games.riichi.records.mjai.mjai_writer import write_mjai
from suphx.games.riichi.records.mjlog.mjlog_writer import write_mjlog
from suphx.games.riichi.table.rules import UntoldRulesError

RecordForm = Literal["mjlog", "mjai"]


def write_records(
    logs: Iterable[GameLog],
    target: Path,
    form: RecordForm,
    *,
    quarantine: Quarantine | None = None,
    kept: Set[Path] = frozenset(),
) -> int:
    """Write games to ``target`` and return how many: a table if its name ends in .tsv or .tsv.xz, else a folder.

    Folders are created if missing, but not for nothing; a file of the same game is replaced, and files of other games
    and ``kept`` (absolute, without links: those that the games come from) stay. A table appears under its name only
    when it is complete. A game that cannot be written (its moves contradict the rules, or it came from mjai and mjlog
    needs han and yaku) is set aside in ``quarantine``; without one it is a ValueError. Raises ValueError also for a
    table of mjai (many lines per game), OSError if writing fails.
    """
    if form not in get_args(RecordForm):
        raise ValueError(f"form is {form!r}: use {' or '.join(get_args(RecordForm))}")
    written = _written(logs, form, quarantine)
    if not target.name.endswith((".tsv", ".tsv.xz")):
        return _write_folder(written, target, form, kept)
    if form == "mjai":
        raise ValueError(f"{target} is a table with one line per game and mjai has many: choose a folder or --to mjlog")
    return _write_table(written, target)


def _written(logs: Iterable[GameLog], form: RecordForm, quarantine: Quarantine | None) -> Iterator[tuple[GameLog, str]]:
    """Yield the games that can be written, with their text."""
    write = write_mjlog if form == "mjlog" else write_mjai
    for log in logs:
        try:
            text = write(log)
        except ValueError as error:
            if quarantine is None:
                raise
            has_results = all(kyoku.is_result_complete for kyoku in log.kyokus)
            is_untold = isinstance(error, UntoldRulesError) or (form == "mjlog" and not has_results)
            kind = NOT_WRITABLE if is_untold else ILLEGAL_RECORD
            quarantine.add(*log.place(""), f"cannot be written as {form}: {error}", kind=kind)
        else:
            yield log, text


def _write_folder(written: Iterable[tuple[GameLog, str]], folder: Path, form: RecordForm, kept: Set[Path]) -> int:
    used: set[Path] = set()
    for log, text in written:
        folder.mkdir(parents=True, exist_ok=True)
        # mtime 0: the same games give the same bytes
        data = gzip.compress(text.encode(), mtime=0) if form == "mjlog" else text.encode()
        path = _own_path(folder, log, ".mjlog" if form == "mjlog" else ".jsonl", used, kept)
        write_atomically(path, [data])
        used.add(path)
    return len(used)


def _write_table(written: Iterable[tuple[GameLog, str]], path: Path) -> int:
    num_written = 0
    games = iter(written)
    first = next(games, None)
    if first is None:
        return 0

    def lines() -> Iterator[bytes]:
        nonlocal num_written
        for log, mjlog in chain([first], games):
            game_id, text = re.sub(r"\s", "_", log.id), mjlog.replace("\n", "")
            yield f"{game_id}\t\t{text}\n".encode()
            num_written += 1

    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, _packed(lines()) if path.suffix == ".xz" else lines())
    return num_written


def _packed(parts: Iterable[bytes]) -> Iterator[bytes]:
    compressor = lzma.LZMACompressor()
    for part in parts:
        yield compressor.compress(part)
    yield compressor.flush()


def _own_path(folder: Path, log: GameLog, suffix: str, used: Set[Path], kept: Set[Path]) -> Path:
    """Return the path for a record of any id: not in ``used``, and without a file, or with one of the same game.

    That one is not in ``kept``.
    """
    plain = re.sub(r"[^\w-]", "_", log.id)[:100] or "game"
    numbered = (f"{plain}-{number}" for number in count(2))
    paths = (folder / f"{name}{suffix}" for name in chain((plain,), numbered))
    free = (path for path in paths if path not in used)
    return next(path for path in free if not path.exists() or (path.resolve() not in kept and _has_game(path, log)))


def _has_game(path: Path, log: GameLog) -> bool:
    there = next(iter_records([path], quarantine=Quarantine()), None)
    return there is not None and there.content_digest() == log.content_digest()
