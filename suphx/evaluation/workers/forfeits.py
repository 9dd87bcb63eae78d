"""Games that an agent could not play to their end, such as an outside program that crashed: who, how often, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


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

    def note(self, agent: int, reason: str) -> None:
        """Count a forfeit of ``agent``."""
        self.counts[agent] += 1
        self.reasons[agent] = min(reason, self.reasons.get(agent, reason))

    def to_json(self, names: Sequence[str]) -> dict[str, dict[str, object]]:
        """Return name -> ``forfeits`` and ``reason`` of the agents that forfeited; ``names`` by number."""
        return {names[agent]: {"forfeits": count, "reason": self.reasons[agent]} for agent, count in self._sorted()}

    def sentences(self, names: Sequence[str]) -> list[str]:
        """Return a sentence for each agent that forfeited."""
        return [
            f"{names[agent]} could not play {count:,} {'game' if count == 1 else 'games'} to the end, and discarded "
            f"what it drew from then on; one of the reasons: {self.reasons[agent]}"
            for agent, count in self._sorted()
        ]

    def _sorted(self) -> list[tuple[int, int]]:
        return sorted(self.counts.items())
