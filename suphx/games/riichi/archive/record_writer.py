"""Writes games to files: one per game in a folder, one for all, or a table (.tsv) with a line per game.

``RiichiRecordTools`` is what ``suphx records`` does with records of riichi: part of the contract of a game.
"""

from __future__ import annotations

import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import Any, Literal, cast, get_args

from suphx.atomic_file import many_files, write_atomically
from suphx.games.game import CountGames
from suphx.games.riichi.archive.archive import iter_records, verify_records
from suphx.games.riichi.archive.raw_record import record_files
from suphx.games.riichi.archive.record_stream import ReadShare
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.mjai import write_mjai
from suphx.games.riichi.records.mjlog import write_mjlog
from suphx.games.riichi.records.quarantine import ILLEGAL_RECORD, NOT_WRITABLE, MissingFact, Quarantine
from suphx.games.riichi.records.replay import is_result_whole, process_replayer
from suphx.games.riichi.records.statistics import game_row
from suphx.games.riichi.records.tenhou6 import write_tenhou6
from suphx.games.riichi.rules import UntoldRulesError

_GZIP_WBITS = 31

RecordForm = Literal["mjlog", "mjai", "tenhou6"]

_FORMS_OF_SUFFIX: dict[str, tuple[RecordForm, ...]] = {
    ".tsv": ("mjlog", "tenhou6"),
    ".mjlog": ("mjlog",),
    ".xml": ("mjlog",),
    ".mjai": ("mjai",),
    ".mjson": ("mjai",),
    ".jsonl": ("mjai", "tenhou6"),
    ".json": ("tenhou6", "mjai"),
    ".tenhou6": ("tenhou6",),
}
_WRITERS: dict[RecordForm, Callable[[GameLog], str]] = {
    "mjlog": write_mjlog,
    "mjai": write_mjai,
    "tenhou6": write_tenhou6,
}
_SUFFIX_IN_FOLDER: dict[RecordForm, str] = {"mjlog": ".mjlog", "mjai": ".jsonl", "tenhou6": ".json"}
_WITH_RESULTS = ("mjlog", "tenhou6")


def file_forms(path: Path) -> tuple[RecordForm, ...]:
    """Return the forms of records that a file of this name can have, the usual one first; () if it is a folder."""
    if path.is_dir():
        return ()
    suffix = path.with_suffix("").suffix if path.suffix in (".gz", ".xz") else path.suffix
    return _FORMS_OF_SUFFIX.get(suffix.lower(), ())


def write_records(
    logs: Iterable[GameLog],
    target: Path,
    form: RecordForm,
    *,
    quarantine: Quarantine | None = None,
    kept: Set[Path] = frozenset(),
) -> int:
    """Write games to ``target`` and return how many: a file if its name is that of one (``file_forms``), else a folder.

    Folders are created if missing, but not for nothing; a file of the same game is replaced, and files of other games
    and ``kept`` (absolute, without links: those that the games come from) stay. One file, packed if its name ends in
    .gz or .xz, appears under its name only when it is complete. What a record must have and a game lacks (han, fu and
    yaku, if it came from mjai) is computed by the rules. A game that cannot be written (it contradicts the rules, or
    the format has no words for it) is set aside in ``quarantine``; without one it is a ValueError. Raises ValueError
    also for a file that cannot have the form, or that has one mjlog record and should have more, and OSError if
    writing fails: it says how many games of a folder were written.
    """
    if form not in get_args(RecordForm):
        raise ValueError(f"form is {form!r}: use {', '.join(get_args(RecordForm))}")
    written = _written(logs, form, quarantine)
    forms = file_forms(target)
    if not forms:
        used: set[Path] = set()
        with many_files(target) as files:
            for log, text in written:
                target.mkdir(parents=True, exist_ok=True)
                path = _own_path(target, log, _SUFFIX_IN_FOLDER[form], used, kept)
                write_atomically(path, _packed([text.encode()], path))
                used.add(path)
                files.append(path)
        return len(used)
    if form not in forms:
        raise ValueError(
            f"a file named {target.name} has {' or '.join(forms)}, not {form}: name a folder, or another file"
        )
    return _write_file(written, target, form)


def _written(logs: Iterable[GameLog], form: RecordForm, quarantine: Quarantine | None) -> Iterator[tuple[GameLog, str]]:
    """Yield the games that can be written, with their text."""
    for log in logs:
        try:
            whole = log
            if form in _WITH_RESULTS and not all(map(is_result_whole, log.kyokus)):
                whole = replace(log, kyokus=[replace(kyoku, result=kyoku.result.copy()) for kyoku in log.kyokus])
                process_replayer().complete(whole)
            text = _WRITERS[form](whole)
        except ValueError as error:
            if quarantine is None:
                raise
            kind = NOT_WRITABLE if isinstance(error, UntoldRulesError | MissingFact) else ILLEGAL_RECORD
            quarantine.add(*log.place(""), f"cannot be written as {form}: {error}", kind=kind)
        else:
            yield log, text


def _write_file(written: Iterable[tuple[GameLog, str]], path: Path, form: RecordForm) -> int:
    num_written = 0
    games = iter(written)
    first = next(games, None)
    if first is None:
        return 0
    is_table = file_forms(path) == _FORMS_OF_SUFFIX[".tsv"]

    def parts() -> Iterator[bytes]:
        nonlocal num_written
        for log, text in chain([first], games):
            if form == "mjlog" and not is_table and num_written:
                raise ValueError(
                    f"{path} is one mjlog record, and there are more games: name a folder or a table (.tsv)"
                )
            if is_table:
                game_id = re.sub(r"\s", "_", log.id)
                text = f"{game_id}\t\t{text.replace(chr(10), '')}\n"
            yield text.encode()
            num_written += 1

    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, _packed(parts(), path))
    return num_written


def _packed(parts: Iterable[bytes], path: Path) -> Iterator[bytes]:
    """Yield ``parts``, packed as the name of their file says; .mjlog is packed with gzip, as Tenhou serves it."""
    if path.suffix == ".xz":
        compressor: Any = lzma.LZMACompressor()
    elif path.suffix in (".gz", ".mjlog"):
        compressor = zlib.compressobj(wbits=_GZIP_WBITS)  # without a time: the same games give the same bytes
    else:
        yield from parts
        return
    for part in parts:
        yield compressor.compress(part)
    yield compressor.flush()


def _own_path(folder: Path, log: GameLog, suffix: str, used: Set[Path], kept: Set[Path]) -> Path:
    """Return the path for a record of any id: not in ``used``, and without a file, or with one of the same game.

    That one is not in ``kept``.
    """
    plain = re.sub(r"[^\w-]", "_", log.id)[:100].lstrip("-") or "game"  # `rm -rf.mjai` would mean an option
    names = chain((plain,), (f"{plain}-{number}" for number in count(2)))
    free = (path for name in names if (path := folder / f"{name}{suffix}") not in used)
    return next(path for path in free if not path.exists() or (path.resolve() not in kept and _has_game(path, log)))


def _has_game(path: Path, log: GameLog) -> bool:
    there = next(iter_records([path], quarantine=Quarantine()), None)
    return there is not None and there.content_digest() == log.content_digest()


class RiichiRecordTools:
    """Records of many forms, read by many processes."""

    forms: tuple[str, ...] = get_args(RecordForm)
    kernel_groups: tuple[str, ...] = ("engine", "hands", "replay")
    has_luck = True
    new_set_aside = Quarantine
    verify = staticmethod(verify_records)
    count = staticmethod(game_row)
    file_forms = staticmethod(file_forms)

    def read(
        self,
        paths: Sequence[Path],
        *,
        set_aside: Quarantine,
        workers: int = 1,
        seen: CountGames = lambda share, games: None,
    ) -> Iterator[GameLog]:
        """Yield the readable games of files and folders; ValueError as for ``iter_records``."""
        read = ReadShare()
        for log in iter_records(paths, workers=workers, quarantine=set_aside, read=read):
            yield log
            seen(read.share, 1)

    def has_games(self, paths: Sequence[Path], *, set_aside: Quarantine) -> bool:
        """Tell whether a record can be parsed, also one without an end."""
        return next(iter_records(paths, quarantine=set_aside, is_fragment_allowed=True), None) is not None

    def files(self, path: Path) -> Sequence[Path]:
        """Return the files that ``read`` reads."""
        return record_files([path])

    def kernels_to_write(self, source: Path, form: str) -> tuple[str, ...]:
        """Return those that compute han, fu and yaku, where the first record lacks them."""
        if form == "mjai":
            return ()
        first = next(iter_records([source], quarantine=Quarantine()), None)
        return () if first is None or all(map(is_result_whole, first.kyokus)) else self.kernel_groups

    def players(self, record: GameLog) -> Sequence[str]:
        """Return the names by seat."""
        return record.names

    def check_target(self, target: Path) -> None:
        """Do nothing: any other name is that of a folder."""

    def write(
        self,
        records: Iterable[GameLog],
        target: Path,
        form: str,
        *,
        set_aside: Quarantine,
        kept: Set[Path] = frozenset(),
    ) -> int:
        """Write games, as ``write_records`` does."""
        return write_records(records, target, cast("RecordForm", form), quarantine=set_aside, kept=kept)
