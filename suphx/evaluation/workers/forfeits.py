"""Games that an agent could not play to their end, such as an outside program that crashed: who, how often, and why.

``counted_places`` says what such a game is worth: matches, sequential tests and ratings take all places from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from suphx.games.riichi import places_of_scores
from suphx.kernel.record import I8, I32

ForfeitedSeats: TypeAlias = Sequence[Set[int]]
"""For each game the seats whose agents could not play it to the end."""


class Forfeit(NamedTuple):
    """A seat that was lost in a game."""

    agent: int
    reason: str


@dataclass(slots=True)
class Forfeits:
    """Counts the forfeits of numbered agents; a game is one forfeit for each seat that the agent lost."""

    counts: Counter[int] = field(default_factory=Counter)
    reasons: dict[int, str] = field(default_factory=dict)
    """Why the agent forfeited, one of the reasons: the same one in whatever order games end."""

    @classmethod
    def together(cls, parts: Iterable[Forfeits]) -> Forfeits:
        """Return the forfeits of several matches as those of one."""
        total = cls()
        for part in parts:
            total.counts.update(part.counts)
            for agent, reason in part.reasons.items():
                total.reasons[agent] = min(reason, total.reasons.get(agent, reason))
        return total

    @classmethod
    def of(cls, forfeits: Iterable[Forfeit]) -> Forfeits:
        """Return the counts of ``forfeits``."""
        total = cls()
        for agent, reason in forfeits:
            total.note(agent, reason)
        return total

    def note(self, agent: int, reason: str) -> None:
        """Count a forfeit of ``agent``."""
        self.counts[agent] += 1
        self.reasons[agent] = min(reason, self.reasons.get(agent, reason))

    def to_json(self, names: Sequence[str]) -> dict[str, dict[str, object]]:
        """Return name -> ``forfeits`` and ``reason`` of the agents that forfeited; ``names`` by number."""
        return {names[agent]: {"forfeits": count, "reason": self.reasons[agent]} for agent, count in self._sorted()}

    def sentences(self, names: Sequence[str], counts_as: str = "last place") -> list[str]:
        """Return a sentence for each agent that forfeited; ``counts_as``: what such a game is."""
        return [
            f"{names[agent]} could not play {count:,} {'game' if count == 1 else 'games'} to the end: each counts as "
            f"{counts_as}; one of the reasons: {self.reasons[agent]}"
            for agent, count in self._sorted()
        ]

    def _sorted(self) -> list[tuple[int, int]]:
        return sorted(self.counts.items())


def counted_places(scores: I32, forfeited: ForfeitedSeats) -> I8:
    """Return int8 [n, 4]: the places by seat, 1-4, that count for ``scores`` int32 [n, 4].

    A seat that forfeited is behind all seats that did not; among each other they are ordered by their points. So one
    such seat is fourth, and whoever had fewer points moves up.
    """
    places = places_of_scores(scores)
    behind = np.array([[seat in seats for seat in range(4)] for seats in forfeited], np.int64).reshape(-1, 4)
    order = np.argsort(places + 4 * behind, axis=1)
    return (np.argsort(order, axis=1) + 1).astype(np.int8)
