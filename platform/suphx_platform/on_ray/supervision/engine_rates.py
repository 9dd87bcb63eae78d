"""How fast engines answer and how long they wait, computed from the counts that they report."""

from __future__ import annotations

from dataclasses import dataclass

from suphx.selfplay.requests import EngineCounts


@dataclass(frozen=True, slots=True)
class _Report:
    at: float
    """Seconds, of any clock that goes on evenly."""
    counts: EngineCounts


class EngineRates:
    """Consumes: counts of engines. Produces: rates between the last two reports of each. Waits for: nothing."""

    def __init__(self) -> None:
        self._reports: dict[str, tuple[_Report, _Report]] = {}

    def add(self, part: str, counts: EngineCounts, at: float) -> None:
        """Add the counts of ``part`` at a time in seconds; lower counts than before mean that it was restarted."""
        now = _Report(at, counts)
        _, last = self._reports.get(part, (now, now))
        self._reports[part] = (now if counts.requests < last.counts.requests else last, now)

    def forget(self, part: str) -> None:
        """Drop the reports of a dead part."""
        self._reports.pop(part, None)

    def gauges(self) -> dict[str, float]:
        """Return rows a second of all engines, and the share of their time in which they had nothing to answer."""
        known = [(last, now) for last, now in self._reports.values() if now.at > last.at]
        if not known:
            return {}
        rows = [(now.counts.observations - last.counts.observations) / (now.at - last.at) for last, now in known]
        busy = [(now.counts.busy_seconds - last.counts.busy_seconds) / (now.at - last.at) for last, now in known]
        return {
            "engine_observations_per_second": sum(rows),
            "engine_waiting_share": max(0.0, 1 - sum(busy) / len(busy)),
        }
