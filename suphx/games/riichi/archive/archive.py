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
>>> for log in iter_records([folder], quarantine=quarantine, workers=8): ...
>>> quarantine.write(folder / "quarantine.jsonl")

``find_record`` finds one game without parsing those before it. ``verify_records`` replays real records through the
rules and counts every difference (docs/rules.md).
"""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from suphx.file_tree import files_below
from suphx.games.game import CountGames, Verification
from suphx.games.quarantine import MAX_SHOWN
from suphx.games.riichi.archive.raw_record import RawRecord, is_mjai_text, iter_texts
from suphx.games.riichi.archive.record_stream import ReadShare
from suphx.games.riichi.records.game_log import NO_SEED, GameLog
from suphx.games.riichi.records.mjai import parse_mjai
from suphx.games.riichi.records.mjlog import parse_mjlog
from suphx.games.riichi.records.quarantine import Quarantine, RecordError
from suphx.games.riichi.records.replay import Difference, process_replayer
from suphx.games.riichi.records.tenhou6 import parse_tenhou6
from suphx.printable_text import printable
from suphx.usable_cores import usable_cores
from suphx.worker_interrupt import become_worker, starting_workers, worker_deaths

_CHUNK_RECORDS = 32
_CHUNK_CHARACTERS = 4 * 1024 * 1024
_CHUNKS_PER_WORKER = 3
_REMEDY = "use fewer workers"

T = TypeVar("T")


def iter_records(
    paths: Sequence[Path],
    *,
    quarantine: Quarantine,
    workers: int = 1,
    is_fragment_allowed: bool = False,
    read: ReadShare | None = None,
) -> Iterator[GameLog]:
    """Yield every readable game of files and folders, in order, parsed by ``workers`` processes.

    A game without its end is set aside unless ``is_fragment_allowed``: then its finished kyokus count. At most a few
    chunks a worker are under way, so memory stays bounded. ValueError as for ``iter_texts``, and for ``workers`` under
    1.
    """
    if workers < 1:
        raise ValueError(f"workers is {workers}: use 1 process or more")
    parse = partial(parse_record, is_fragment_allowed)
    texts = iter_texts(paths, quarantine=quarantine, read=read)

    def games() -> Iterator[GameLog]:
        for item in map(parse, texts) if workers == 1 else map_records(parse, texts, workers):
            if isinstance(item, GameLog):
                yield item
            else:
                quarantine.add(*item.place, item.reason, kind=item.kind)

    return games()


class RefusedRecord(NamedTuple):
    """Why a record is set aside."""

    place: tuple[str, str]
    """The file, and where in it."""
    reason: str
    kind: str


def parse_record(is_fragment_allowed: bool, raw: RawRecord) -> GameLog | RefusedRecord:
    """Return the game of one text, or why it is set aside."""
    try:
        if is_mjai_text(raw.text):
            log = parse_mjai(raw.text, raw.id, is_fragment_allowed=is_fragment_allowed)
        elif raw.text.lstrip("\ufeff \t\r\n").startswith("{"):
            log = parse_tenhou6(raw.text, raw.id, is_fragment_allowed=is_fragment_allowed)
        else:
            log = parse_mjlog(raw.text, raw.id, raw.seed, is_fragment_allowed=is_fragment_allowed)
    except RecordError as error:
        position = ", ".join(filter(None, (raw.position, error.position)))
        return RefusedRecord((raw.source, position), error.reason, error.kind)
    log.source, log.source_position = raw.source, raw.position
    return log


def map_records(work: Callable[[RawRecord], T], texts: Iterable[RawRecord], workers: int) -> Iterator[T]:
    """Yield what ``work`` (a function that can be pickled) makes of each text, in order, from worker processes.

    Texts travel in chunks, at most a few chunks a worker are under way. WorkerDiedError if a process has died.
    """
    # spawn: the caller may hold threads (Ray, torch), which do not survive a fork
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, initializer=become_worker)
    under_way: deque[Future[list[T]]] = deque()
    chunk: list[RawRecord] = []
    size = 0
    try:
        for raw in chain(texts, [None]):
            if raw is not None:
                chunk.append(raw)
                size += len(raw.text)
            is_full = len(chunk) == _CHUNK_RECORDS or size >= _CHUNK_CHARACTERS
            if chunk and (is_full or raw is None):
                with worker_deaths(_REMEDY), starting_workers():  # the pool starts them as it needs them
                    under_way.append(pool.submit(_map_chunk, work, chunk))
                chunk, size = [], 0
            while len(under_way) >= (workers * _CHUNKS_PER_WORKER if raw is not None else 1):
                with worker_deaths(_REMEDY):
                    done = under_way.popleft().result()
                yield from done
    finally:
        pool.shutdown(cancel_futures=True)


def _map_chunk(work: Callable[[RawRecord], T], chunk: list[RawRecord]) -> list[T]:
    return [work(raw) for raw in chunk]


def find_record(path: Path, wanted: str = "") -> GameLog:
    """Return one game of ``path`` (files and folders as in archive.py); a game without its end has its finished kyokus.

    ``wanted``: its id, or its number from 1 on in the order of the files; "" for the first. If a file of the folder
    ``path`` has that name, the id comes first. ValueError if there is no such game or it cannot be read.
    """
    is_number = wanted.isdigit() and path.is_dir()
    is_name = is_number and any(file.name.startswith(f"{wanted}.") for file in files_below(path))
    quarantine = Quarantine()
    count = 0
    found: RawRecord | None = None
    for count, raw in enumerate(iter_texts([path], quarantine=quarantine), 1):
        if wanted in ("", raw.id, str(count)):
            found = raw
        if wanted in ("", raw.id) or (wanted == str(count) and not is_name):
            break
    if found is not None:
        log = parse_record(True, found)
        if isinstance(log, RefusedRecord):
            quarantine = Quarantine()
            quarantine.add(*log.place, log.reason, kind=log.kind)
            raise ValueError(str(quarantine.entries[0]))
        return log
    if not count and quarantine.entries:
        entry = quarantine.entries[0]
        raise ValueError(f"{entry.file} has no game: {entry.reason}; {entry.remedy}")
    if not count:
        raise ValueError(f"{path} has no game: it is empty")
    raise ValueError(f"{path} has no game {wanted!r}: give the id of a game or a number from 1 to {count:,}")


def verify_records(
    paths: Sequence[Path], *, workers: int | None = None, seen: CountGames = lambda share, games: None
) -> Verification:
    """Replay every game of ``paths`` in ``workers`` processes (default: one a core), and count all differences.

    A record that cannot be read is set aside, one that closes without an end counts with the deals that it has.
    ValueError for a missing path or a folder without records.
    """
    start = time.monotonic()
    quarantine, read, total = Quarantine(), ReadShare(), _Checked()
    texts = iter_texts(paths, quarantine=quarantine, read=read)
    num_workers = workers or usable_cores()
    # The first one is checked here: it compiles the kernels into the cache that the workers then read.
    here = map(_check, islice(texts, None if num_workers == 1 else 1))
    for outcome in here if num_workers == 1 else chain(here, map_records(_check, texts, num_workers)):
        if isinstance(outcome, RefusedRecord):
            quarantine.add(*outcome.place, outcome.reason, kind=outcome.kind)
        else:
            total.add(outcome)
            seen(read.share, 1)
    counts, unchecked = total.counts, total.draws_unchecked.most_common()
    return Verification(
        games=counts["games"],
        differences=counts["differences"],
        counts={name: counts[name] for name in ("kyoku", "decisions")},
        seconds=time.monotonic() - start,
        first=tuple(
            f"{printable(each.id)}, deal {each.kyoku + 1}, step {each.step}: {each.what}" for each in total.first
        ),
        values={
            "draws_checked": counts["draws_checked"],
            "draws_unchecked": total.draws_unchecked.total(),
            "draws_unchecked_by_reason": dict(unchecked),
            "ignored": dict(total.ignored.most_common()),
            "first_differences": [asdict(difference) for difference in total.first],
            **quarantine.to_json(),
            "quarantined_foreign": quarantine.num_foreign,
            "quarantine_reasons": dict(Counter(entry.reason for entry in quarantine.entries)),
        },
        rows={
            "draws compared with the shuffle seed": counts["draws_checked"],
            "draws that could not be compared": [{"reason": reason, "draws": number} for reason, number in unchecked],
            "ignored, because no game needs it": [
                {"what": what, "times": number} for what, number in total.ignored.most_common()
            ],
        },
        set_aside=quarantine,
    )


@dataclass(slots=True)
class _Checked:
    """What the replay of some games found."""

    counts: Counter[str] = field(default_factory=Counter)
    draws_unchecked: Counter[str] = field(default_factory=Counter)  # by the reason
    ignored: Counter[str] = field(default_factory=Counter)
    first: list[Difference] = field(default_factory=list)

    def add(self, other: _Checked) -> None:
        """Add what was found in another game."""
        self.counts += other.counts
        self.draws_unchecked += other.draws_unchecked  # reasons that concern no draw are left out
        self.ignored += other.ignored
        self.first = [*self.first, *other.first][:MAX_SHOWN]


def _check(raw: RawRecord) -> _Checked | RefusedRecord:
    game = parse_record(True, raw)
    if isinstance(game, RefusedRecord):
        return game
    replayer = process_replayer()
    differences = replayer.replay(game)
    counts = Counter(
        games=1,
        kyoku=len(game.kyokus),
        decisions=replayer.num_decisions,
        draws_checked=replayer.num_draws_checked,
        differences=len(differences),
    )
    unchecked = Counter({game.seed_problem or NO_SEED: replayer.num_draws_unchecked})
    return _Checked(counts, unchecked, game.ignored, differences)
