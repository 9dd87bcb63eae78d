"""What can be wrong with a game record.

ValueError
└── RecordError        the record is damaged or contradicts itself
    └── ForeignRecord  a sound record of a game that we do not play: three players, no red fives
"""

from __future__ import annotations


class RecordError(ValueError):
    """A record that cannot be read: ``reason`` says what is wrong, ``position`` where in the record."""

    def __init__(self, reason: str, position: str) -> None:
        super().__init__(reason, position)
        self.reason = reason
        self.position = position

    def __str__(self) -> str:
        return f"{self.reason} (at {self.position})"


class ForeignRecord(RecordError):  # noqa: N818 (nothing is wrong with it)
    """A record of another kind of game; set it aside, nothing is damaged."""
