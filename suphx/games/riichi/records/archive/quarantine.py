"""Where records go that cannot be read: counted, named with the reason, and never in the way of the others."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from suphx.atomic_file import write_atomically
from suphx.games.riichi.records.log.record_error import DAMAGED, FOREIGN_KINDS, RECORD_REMEDIES
from suphx.printable_text import printable

MAX_TEXT_LENGTH = 1000
"""Characters that an entry keeps of each of its texts: a damaged record can make any of them long."""


@dataclass(frozen=True, slots=True)
class QuarantinedRecord:
    """One record that was set aside."""

    file: str
    position: str
    """Where in the file, or where in the record."""
    reason: str
    kind: str = DAMAGED
    """The kind of reason, a key of RECORD_REMEDIES (record_error.py)."""

    @property
    def remedy(self) -> str:
        """Return what the owner of the record can do."""
        return RECORD_REMEDIES.get(self.kind, "")


class Quarantine:
    """Counts what is set aside and keeps the first ``limit`` entries.

    >>> quarantine = Quarantine()
    >>> logs = list(iter_records([folder], quarantine=quarantine))
    >>> quarantine.count, quarantine.entries[0].reason
    """

    def __init__(self, limit: int = 10_000) -> None:
        if limit < 0:
            raise ValueError(f"limit is {limit}: use 0 or more entries to keep")
        self._limit = limit
        self.entries: list[QuarantinedRecord] = []
        """The first ``limit`` entries."""
        self.count = 0
        self._kinds: Counter[str] = Counter()

    @property
    def num_foreign(self) -> int:
        """Return how many are sound records of games that we do not play (three players, chips, …)."""
        return sum(self._kinds[kind] for kind in FOREIGN_KINDS)

    @property
    def by_reason(self) -> dict[str, int]:
        """Return how many records were set aside for each kind of reason, the most frequent first."""
        return dict(self._kinds.most_common())

    def add(self, file: str, position: str, reason: str, *, kind: str = DAMAGED) -> None:
        """Set one record aside; ``kind`` is a key of RECORD_REMEDIES (record_error.py)."""
        self.count += 1
        self._kinds[kind] += 1
        if len(self.entries) < self._limit:
            self.entries.append(QuarantinedRecord(_short(file), _short(position), _short(reason), kind))

    def add_entry(self, entry: QuarantinedRecord) -> None:
        """Set aside a record that another process refused."""
        self.add(entry.file, entry.position, entry.reason, kind=entry.kind)

    def write(self, path: Path) -> None:
        """Write the entries as JSON lines; a last line has the number of those not kept. OSError if that fails."""
        lines = [json.dumps({**asdict(entry), "remedy": entry.remedy}, ensure_ascii=False) for entry in self.entries]
        omitted = self.count - len(self.entries)
        if omitted:
            lines.append(json.dumps({"omitted": omitted}))
        write_atomically(path, [f"{line}\n".encode() for line in lines])


def _short(text: str) -> str:
    """Return a text that every file and terminal takes: not too long, without control characters."""
    shown = printable(text[: MAX_TEXT_LENGTH + 1])
    return shown if len(shown) <= MAX_TEXT_LENGTH else f"{shown[:MAX_TEXT_LENGTH]}…"
