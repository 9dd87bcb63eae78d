"""What can be wrong with a game record, and what to do about it.

ValueError
├── MissingFact        a reader needs something that the record does not show; readers make a RecordError of it
└── RecordError        the record is damaged or contradicts itself
    └── ForeignRecord  a sound record of a game that we do not play: three players, no red fives, chips
"""

from __future__ import annotations

from suphx.games import quarantine

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


class Quarantine(quarantine.Quarantine):
    """The records of riichi that are set aside."""

    remedies = RECORD_REMEDIES

    @property
    def num_foreign(self) -> int:
        """Return how many are valid records of games that we do not play (three players, chips, …)."""
        return sum(self._kinds[kind] for kind in FOREIGN_KINDS)
