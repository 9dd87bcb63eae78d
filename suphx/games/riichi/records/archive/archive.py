"""Game records from files and folders of many forms, one after another; what cannot be read is set aside.

Read are, each plain or packed with gzip, xz or bzip2 (.zip plain only):

| name | content |
|---|---|
| .mjlog .xml, or a name with the id of a Tenhou game | one mjlog record |
| .mjai .jsonl .json .mjson .tenhou6 .txt | mjai or tenhou.net/6, one game or several (json_text.py) |
| .tsv | lines of id, anything, record; the seeds of games.tsv are in seeds.tsv beside it (id, seed) |
| .tar .tgz .zip | any of the above inside (no archive in an archive; tables without their seeds) |

Other files are skipped. A record has at most 16 MiB and is UTF-8; docs/records.md lists all
limits.

>>> quarantine = Quarantine()
>>> for log in parse_all([folder], workers=8, quarantine=quarantine): ...
>>> quarantine.write(folder / "quarantine.jsonl")
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypeVar

from suphx.games.riichi.records.archive.json_games import is_mjai_text
from suphx.games.riichi.records.archive.quarantine import Quarantine, QuarantinedRecord
from suphx.games.riichi.records.archive.raw_record import RawRecord, iter_texts, record_files
from suphx.games.riichi.records.archive.record_stream import ReadShare
from suphx.games.riichi.records.log.gamelog import GameLog
from suphx.games.riichi.records.log.record_error import RecordError
from suphx.games.riichi.records.mjai.mjai import parse_mjai
from suphx.games.riichi.records.mjlog.mjlog import parse_mjlog
from suphx.games.riichi.records.tenhou6.tenhou6 import parse_tenhou6
from suphx.worker_interrupt import become_worker, starting_workers, worker_deaths

__all__ = [
    "Quarantine",
    "QuarantinedRecord",
    "RawRecord",
    "iter_records",
    "iter_texts",
    "map_records",
    "parse_all",
    "parse_record",
    "record_files",
]

_CHUNK_RECORDS = 32
_CHUNK_CHARACTERS = 4 * 1024 * 1024
_CHUNKS_PER_WORKER = 3
_REMEDY = "use fewer workers"

T = TypeVar("T")

_Parsed: TypeAlias = GameLog | QuarantinedRecord


def iter_records(
    paths: Sequence[Path], *, quarantine: Quarantine, is_fragment_allowed: bool = False
) -> Iterator[GameLog]:
    """Yield every readable game of files and folders, in order; errors as for ``iter_texts``.

    A game without its end is set aside unless ``is_fragment_allowed``: then its finished kyokus count.
    """
    parse = partial(parse_record, is_fragment_allowed)
    return _kept(map(parse, iter_texts(paths, quarantine=quarantine)), quarantine)


def parse_all(
    paths: Sequence[Path],
    workers: int,
    *,
    quarantine: Quarantine,
    is_fragment_allowed: bool = False,
    read: ReadShare | None = None,
) -> Iterator[GameLog]:
    """Yield the same games in the same order as ``iter_records``, parsed by ``workers`` processes.

    At most a few chunks a worker are under way, so memory stays bounded. ValueError as for ``iter_texts``, and for
    ``workers`` under 1.
    """
    if workers < 1:
        raise ValueError(f"workers is {workers}: use 1 process or more")
    texts = iter_texts(paths, quarantine=quarantine, read=read)
    if workers == 1:
        return _kept(map(partial(parse_record, is_fragment_allowed), texts), quarantine)
    parse = partial(_parse_chunk, is_fragment_allowed)
    return _kept(map_records(parse, texts, workers), quarantine)


def _kept(parsed: Iterable[_Parsed], quarantine: Quarantine) -> Iterator[GameLog]:
    """Yield the games, set the others aside."""
    for item in parsed:
        if isinstance(item, GameLog):
            yield item
        else:
            quarantine.add_entry(item)


def parse_record(is_fragment_allowed: bool, raw: RawRecord) -> GameLog | QuarantinedRecord:
    """Return the game of one text, or why it is set aside."""
    try:
        if is_mjai_text(raw.text):
            log = parse_mjai(raw.text, raw.id, is_fragment_allowed=is_fragment_allowed)
        elif raw.text.lstrip("\ufeff \t\r\n").startswith("{"):
            log = parse_tenhou6(raw.text, raw.id, is_fragment_allowed=is_fragment_allowed)
        else:
            log = parse_mjlog(raw.text, raw.id, raw.seed, is_fragment_allowed=is_fragment_allowed)
        log.source, log.source_position = raw.source, raw.position
        return log
    except RecordError as error:
        place = f"{raw.position}, {error.position}" if raw.position else error.position
        return QuarantinedRecord(raw.source, place, error.reason, error.kind)


def _parse_chunk(is_fragment_allowed: bool, chunk: list[RawRecord]) -> list[_Parsed]:
    return [parse_record(is_fragment_allowed, raw) for raw in chunk]


def _chunks(texts: Iterable[RawRecord]) -> Iterator[list[RawRecord]]:
    chunk: list[RawRecord] = []
    size = 0
    for raw in texts:
        chunk.append(raw)
        size += len(raw.text)
        if len(chunk) == _CHUNK_RECORDS or size >= _CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def map_records(work: Callable[[list[RawRecord]], list[T]], texts: Iterable[RawRecord], workers: int) -> Iterator[T]:
    """Yield what ``work`` (a function that can be pickled) makes of all texts, in order, from worker processes.

    Texts travel in chunks, at most a few chunks a worker are under way. WorkerDiedError if a process has died.
    """
    # spawn: the caller may hold threads (Ray, torch), which do not survive a fork
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, initializer=become_worker)
    under_way: deque[Future[list[T]]] = deque()
    try:
        for chunk in _chunks(texts):
            with worker_deaths(_REMEDY), starting_workers():  # the pool starts them as it needs them
                under_way.append(pool.submit(work, chunk))
            if len(under_way) >= workers * _CHUNKS_PER_WORKER:
                yield from _result(under_way)
        while under_way:
            yield from _result(under_way)
    finally:
        pool.shutdown(cancel_futures=True)


def _result(under_way: deque[Future[list[T]]]) -> list[T]:
    """Wait for the first of the chunks that are under way."""
    with worker_deaths(_REMEDY):
        return under_way.popleft().result()
