"""Records that cannot be used: counted, named with the reason, and never in the way of the others."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

from suphx.atomic_file import write_atomically
from suphx.printable_text import printable

NOT_READ, ILLEGAL = "cannot be read", "against the rules"

MAX_SHOWN = 10  # entries that a command shows
MAX_ENTRIES = 10_000  # entries that a quarantine keeps
MAX_TEXT_LENGTH = 1000
"""Characters that an entry keeps of each of its texts: a damaged record can make any of them long."""


@dataclass(frozen=True, slots=True)
class QuarantinedRecord:
    """One record that was set aside."""

    file: str
    position: str
    """Where in the file, or where in the record; "" for a whole file."""
    reason: str
    kind: str
    """The kind of reason."""
    remedy: str = ""
    """What the owner of the record can do."""

    @property
    def place(self) -> str:
        """Return the file, and where in it the record is."""
        return f"{self.file}, {self.position}" if self.position else self.file

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}; {self.remedy}"


class Quarantine:
    """Counts the records that are set aside and keeps the first MAX_ENTRIES.

    >>> quarantine = Quarantine()
    >>> quarantine.add("games.jsonl", "deal 3", "a tile is missing", kind=NOT_READ)
    >>> quarantine.count, quarantine.entries[0].reason
    (1, 'a tile is missing')
    """

    remedies: ClassVar[Mapping[str, str]] = {
        NOT_READ: "check that it is a whole record of this game in one of its forms",
        ILLEGAL: "run suphx records verify, which names the move",
    }
    """Kind of reason -> what the owner of the record can do."""

    def __init__(self) -> None:
        self.entries: list[QuarantinedRecord] = []
        self.count = 0
        self._kinds: Counter[str] = Counter()

    @property
    def by_reason(self) -> dict[str, int]:
        """Return how many records were set aside for each kind of reason, the most frequent first."""
        return dict(self._kinds.most_common())

    def add(self, file: str, position: str, reason: str, *, kind: str) -> None:
        """Set one record aside; ``kind`` is a key of ``remedies``."""
        self.count += 1
        self._kinds[kind] += 1
        if len(self.entries) < MAX_ENTRIES:
            entry = QuarantinedRecord(_short(file), _short(position), _short(reason), kind, self.remedies[kind])
            self.entries.append(entry)

    def to_json(self) -> dict[str, object]:
        """Return the keys that every command on records has, with the first entries."""
        names = ("file", "position", "reason", "remedy")
        entries = [{name: getattr(entry, name) for name in names} for entry in self.entries[:MAX_SHOWN]]
        return {"quarantined": self.count, "quarantined_by_reason": self.by_reason, "quarantine": entries}

    def write(self, path: Path) -> None:
        """Write the entries as JSON lines; a last line has the number of those not kept. OSError if that fails."""
        lines: list[object] = [asdict(entry) for entry in self.entries]
        if self.count > len(self.entries):
            lines.append({"omitted": self.count - len(self.entries)})
        write_atomically(path, [f"{json.dumps(line, ensure_ascii=False)}\n".encode() for line in lines])


def _short(text: str) -> str:
    """Return a text that every file and terminal takes: not too long, without control characters."""
    shown = printable(text[: MAX_TEXT_LENGTH + 1])
    return shown if len(shown) <= MAX_TEXT_LENGTH else f"{shown[:MAX_TEXT_LENGTH]}…"
