"""What can be wrong with a game record, and what to do about it.

ValueError
├── MissingFact        a reader needs something that the record does not show; readers make a RecordError of it
└── RecordError        the record is damaged or contradicts itself
    └── ForeignRecord  a sound record of a game that we do not play: three players, no red fives, chips

Records that cannot be read go into a Quarantine: counted, named with the reason, and never in the way of the others.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from suphx.atomic_file import write_atomically
from suphx.printable_text import printable

DAMAGED = "damaged"
INCOMPLETE = "incomplete"
NO_END = "no end of the game"
NO_KYOKU = "no finished kyoku"
UNREADABLE = "unreadable file"
TOO_LARGE = "too large"
NOT_A_RECORD = "not a game record"
OTHER_FORMAT = "another record format"
THREE_PLAYERS = "three players"
NO_RED_FIVES = "no red fives"
CHIPS = "chips"
DUPLICATE_RECORD = "duplicate"
ILLEGAL_RECORD = "against the rules"
NOT_WRITABLE = "cannot be converted"

RECORD_REMEDIES = {
    DAMAGED: "download or convert the game again",
    INCOMPLETE: "convert the game again with a program that writes what is missing",
    NO_END: "download or convert the game again: its end is missing",
    NO_KYOKU: "remove the file: it has nothing to replay",
    UNREADABLE: "unpack or download the file again",
    TOO_LARGE: "split the file into one file per game",
    NOT_A_RECORD: "check that it is mjlog, mjai or JSON of tenhou.net/6; `suphx view` shows records of another game",
    OTHER_FORMAT: "convert it to mjlog, mjai or JSON of tenhou.net/6",
    THREE_PLAYERS: "nothing: only games of four players are read",
    NO_RED_FIVES: "nothing: only games with red fives are read",
    CHIPS: "nothing: only games without chips are read",
    DUPLICATE_RECORD: "nothing: the game is already there",
    ILLEGAL_RECORD: "run suphx records verify and report the first difference",
    NOT_WRITABLE: "keep the game in its own format",
}
"""Why a record is set aside -> what its owner can do."""

FOREIGN_KINDS = frozenset((THREE_PLAYERS, NO_RED_FIVES, CHIPS))


class MissingFact(ValueError):  # noqa: N818 (not an error of the program)
    """The record lacks something that was seen at the table. It is never made up: the game is set aside."""


def kind_of(error: ValueError) -> str:
    """Return the kind of reason for which a reader sets a record aside after ``error``."""
    return INCOMPLETE if isinstance(error, MissingFact) else DAMAGED


class RecordError(ValueError):
    """A record that cannot be read: what is wrong, where, and its kind, a key of RECORD_REMEDIES."""

    def __init__(self, reason: str, position: str, kind: str = DAMAGED) -> None:
        super().__init__(reason, position, kind)
        self.reason = reason
        self.position = position
        self.kind = kind

    def __str__(self) -> str:
        return f"{self.reason} (at {self.position})"


class ForeignRecord(RecordError):  # noqa: N818 (nothing is wrong with it)
    """A record of another kind of game; set it aside, nothing is damaged."""


MAX_SHOWN = 10  # entries that a command shows
MAX_ENTRIES = 10_000  # entries that a quarantine keeps
MAX_TEXT_LENGTH = 1000
"""Characters that an entry keeps of each of its texts: a damaged record can make any of them long."""


@dataclass(frozen=True, slots=True)
class QuarantinedRecord:
    """One record that was set aside."""

    file: str
    position: str  # where in the file, or where in the record
    reason: str
    kind: str = DAMAGED  # the kind of reason, a key of RECORD_REMEDIES (quarantine.py)

    @property
    def remedy(self) -> str:
        """Return what the owner of the record can do."""
        return RECORD_REMEDIES.get(self.kind, "")

    @property
    def place(self) -> str:
        """Return the file, and where in it the record is."""
        return f"{self.file}, {self.position}" if self.position else self.file

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}; {self.remedy}"


class Quarantine:
    """Counts what is set aside and keeps the first MAX_ENTRIES.

    >>> quarantine = Quarantine()
    >>> logs = list(iter_records([folder], quarantine=quarantine))
    >>> quarantine.count, quarantine.entries[0].reason
    """

    def __init__(self) -> None:
        self.entries: list[QuarantinedRecord] = []  # the first MAX_ENTRIES
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
        """Set one record aside; ``kind`` is a key of RECORD_REMEDIES (quarantine.py)."""
        self.count += 1
        self._kinds[kind] += 1
        if len(self.entries) < MAX_ENTRIES:
            self.entries.append(QuarantinedRecord(_short(file), _short(position), _short(reason), kind))

    def add_entry(self, entry: QuarantinedRecord) -> None:
        """Set aside a record that another process refused."""
        self.add(entry.file, entry.position, entry.reason, kind=entry.kind)

    def to_json(self) -> dict[str, object]:
        """Return the keys that every command on records has, with the first entries."""
        names = ("file", "position", "reason", "remedy")
        entries = [{name: getattr(entry, name) for name in names} for entry in self.entries[:MAX_SHOWN]]
        return {"quarantined": self.count, "quarantined_by_reason": self.by_reason, "quarantine": entries}

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
