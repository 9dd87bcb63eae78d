"""Pauses between attempts: each is twice as long as the one before."""

from __future__ import annotations


class GrowingPause:
    """How long to wait before the next attempt; how to wait is up to the caller.

    >>> pause = GrowingPause(first=1.0, longest=60.0)
    >>> [pause.next() for _ in range(3)]
    [1.0, 2.0, 4.0]
    """

    def __init__(self, first: float, longest: float) -> None:
        """``first`` and ``longest``: seconds."""
        self._first, self._longest = first, longest
        self._seconds = first

    def next(self) -> float:
        """Return the seconds of this pause; the one after it is longer."""
        seconds = self._seconds
        self._seconds = min(2 * seconds, self._longest)
        return seconds

    def reset(self) -> None:
        """Begin again with the first pause: an attempt has succeeded."""
        self._seconds = self._first
