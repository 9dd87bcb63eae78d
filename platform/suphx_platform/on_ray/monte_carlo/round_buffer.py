"""The bounded buffer between simulators and the learner: rounds in the order in which they were finished."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class RoundBuffer(Generic[T]):
    """Consumes: rounds that were played. Produces: rounds to learn from. Waits for: nothing.

    A place is reserved before a round is played, so that nothing that was played is thrown away.

    >>> buffer = RoundBuffer[str](2)
    >>> buffer.reserve(), buffer.reserve(), buffer.reserve()
    (True, True, False)
    >>> buffer.put("round 0")
    >>> buffer.take()
    'round 0'
    """

    def __init__(self, capacity: int) -> None:
        """``capacity``: rounds in the buffer and reserved places, at most; ValueError for less than one."""
        if capacity < 1:
            raise ValueError(f"capacity is {capacity}: use 1 or more")
        self._capacity = capacity
        self._reserved = 0
        self._rounds: deque[T] = deque()

    def __len__(self) -> int:
        return len(self._rounds)

    def reserve(self) -> bool:
        """Reserve a place for a round that is about to be played; return whether there was one."""
        if self._reserved + len(self._rounds) >= self._capacity:
            return False
        self._reserved += 1
        return True

    def release(self) -> None:
        """Give back a reserved place, for a round that is not played after all."""
        if not self._reserved:
            raise ValueError("no place is reserved: reserve one for each round")
        self._reserved -= 1

    def put(self, played: T) -> None:
        """Fill a reserved place; ValueError if none is."""
        self.release()
        self._rounds.append(played)

    def take(self) -> T | None:
        """Return the oldest round, and free its place; None if there is none."""
        return self._rounds.popleft() if self._rounds else None
