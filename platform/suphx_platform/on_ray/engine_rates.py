"""How fast engines answer and how long they wait, from what they say of themselves now and then."""

from __future__ import annotations

from dataclasses import dataclass

from suphx_platform.parts.engine_counts import EngineCounts


@dataclass(frozen=True, slots=True)
class _Said:
    at: float
    """Seconds, of any clock that goes on evenly."""
    counts: EngineCounts


class EngineRates:
    """Consumes: counts of engines. Produces: rates between the last two that each said. Waits for: nothing."""

    def __init__(self) -> None:
        self._said: dict[str, tuple[_Said, _Said]] = {}

    def hear(self, part: str, counts: EngineCounts, at: float) -> None:
        """Note what ``part`` had done at a time in seconds; one that counts anew was started again."""
        now = _Said(at, counts)
        _, last = self._said.get(part, (now, now))
        self._said[part] = (now if counts.requests < last.counts.requests else last, now)

    def forget(self, part: str) -> None:
        """Leave a dead part out."""
        self._said.pop(part, None)

    def gauges(self) -> dict[str, float]:
        """Return rows a second of all engines, and the share of their time in which they had nothing to answer."""
        known = [(last, now) for last, now in self._said.values() if now.at > last.at]
        if not known:
            return {}
        rows = [(now.counts.rows - last.counts.rows) / (now.at - last.at) for last, now in known]
        busy = [(now.counts.busy_seconds - last.counts.busy_seconds) / (now.at - last.at) for last, now in known]
        return {"engine_rows_per_second": sum(rows), "engine_waiting_share": max(0.0, 1 - sum(busy) / len(busy))}
