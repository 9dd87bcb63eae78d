"""Conformance: replay real records through the rules and count every difference (docs/rules.md)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path

from suphx.games.riichi.records.archive.archive import Quarantine, RawRecord, iter_texts, map_records, parse_record
from suphx.games.riichi.records.archive.quarantine import QuarantinedRecord
from suphx.games.riichi.records.archive.record_stream import ReadShare
from suphx.games.riichi.records.log.gamelog import NO_SEED
from suphx.games.riichi.records.log.replay import Difference, Replayer
from suphx.usable_cores import usable_cores

_MAX_SHOWN = 10


@dataclass(slots=True, kw_only=True)
class VerifyReport:
    """What a verification found. Foreign games (three players, no red fives, chips) are among the quarantined."""

    games: int = 0
    kyoku: int = 0
    decisions: int = 0
    """Choices that were compared with the legal mask, passes included."""
    draws_checked: int = 0
    """Draws compared with walls computed from shuffle seeds."""
    draws_unchecked: Counter[str] = field(default_factory=Counter)
    """Draws that could not be compared, by the reason."""
    ignored: Counter[str] = field(default_factory=Counter)
    """What the readers left out because no game needs it: live tags, broken names."""
    differences: int = 0
    first_differences: list[Difference] = field(default_factory=list)
    quarantine: Quarantine = field(default_factory=Quarantine)
    seconds: float = 0.0

    def to_json(self) -> dict[str, object]:
        """Return the keys that scripts read.

        ``quarantined_by_reason`` counts the kinds of reasons, ``quarantine_reasons`` every text.
        """
        return {
            "games": self.games,
            "kyoku": self.kyoku,
            "decisions": self.decisions,
            "draws_checked": self.draws_checked,
            "draws_unchecked": self.draws_unchecked.total(),
            "draws_unchecked_by_reason": dict(self.draws_unchecked.most_common()),
            "ignored": dict(self.ignored.most_common()),
            "differences": self.differences,
            "first_differences": [asdict(difference) for difference in self.first_differences],
            "quarantined": self.quarantine.count,
            "quarantined_foreign": self.quarantine.num_foreign,
            "quarantined_by_reason": self.quarantine.by_reason,
            "quarantine": [
                {"file": entry.file, "position": entry.position, "reason": entry.reason, "remedy": entry.remedy}
                for entry in self.quarantine.entries[:_MAX_SHOWN]
            ],
            "quarantine_reasons": _count_reasons(self.quarantine.entries),
            "seconds": round(self.seconds, 1),
        }


@dataclass(frozen=True, slots=True)
class _Checked:
    """The outcome of one record, small enough to travel between processes."""

    kyoku: int
    decisions: int
    draws_checked: int
    draws_unchecked: int
    seed_problem: str
    ignored: Counter[str]
    differences: list[Difference]


def verify_records(
    paths: Sequence[Path],
    *,
    limit: int | None = None,
    workers: int | None = None,
    progress: Callable[[int], None] = lambda count: None,
    read: ReadShare | None = None,
) -> VerifyReport:
    """Replay every game of ``paths`` (at most ``limit`` records) in ``workers`` processes (default: one a core).

    ``progress`` receives the number of games just finished, ``read`` the share of the files. A
    record that cannot be read is set aside, one that closes
    without an end counts with the deals that it has. ValueError for a missing path or a folder without records.
    """
    start = time.monotonic()
    report = VerifyReport()
    texts = islice(iter_texts(paths, quarantine=report.quarantine, read=read), limit)
    for outcome in _check_all(texts, workers or usable_cores()):
        if isinstance(outcome, QuarantinedRecord):
            report.quarantine.add_entry(outcome)
            continue
        report.games += 1
        report.kyoku += outcome.kyoku
        report.decisions += outcome.decisions
        report.draws_checked += outcome.draws_checked
        if outcome.draws_unchecked:
            report.draws_unchecked[outcome.seed_problem or NO_SEED] += outcome.draws_unchecked
        report.ignored += outcome.ignored
        report.differences += len(outcome.differences)
        room = _MAX_SHOWN - len(report.first_differences)
        report.first_differences += outcome.differences[:room]
        progress(1)
    report.seconds = time.monotonic() - start
    return report


def _check_all(texts: Iterable[RawRecord], workers: int) -> Iterator[_Checked | QuarantinedRecord]:
    if workers == 1:
        yield from map(_check, texts)
        return
    # The first one is checked here: it compiles the kernels into the cache that the workers then read.
    rest = iter(texts)
    yield from map(_check, islice(rest, 1))
    yield from map_records(_check_chunk, rest, workers)


def _check_chunk(chunk: list[RawRecord]) -> list[_Checked | QuarantinedRecord]:
    return [_check(raw) for raw in chunk]


@cache
def _replayer() -> Replayer:
    """Return this process's replayer."""
    return Replayer()


def _check(raw: RawRecord) -> _Checked | QuarantinedRecord:
    game = parse_record(True, raw)
    if isinstance(game, QuarantinedRecord):
        return game
    replayer = _replayer()
    decisions = replayer.num_decisions
    checked, unchecked = replayer.num_draws_checked, replayer.num_draws_unchecked
    differences = replayer.replay(game)
    return _Checked(
        kyoku=len(game.kyokus),
        decisions=replayer.num_decisions - decisions,
        draws_checked=replayer.num_draws_checked - checked,
        draws_unchecked=replayer.num_draws_unchecked - unchecked,
        seed_problem=game.seed_problem,
        ignored=game.ignored,
        differences=differences,
    )


def _count_reasons(entries: list[QuarantinedRecord]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for entry in entries:
        counts[entry.reason] = counts.get(entry.reason, 0) + 1
    return counts
