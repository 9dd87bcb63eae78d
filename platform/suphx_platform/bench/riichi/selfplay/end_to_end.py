"""What is measured of self-play as a whole, whether its parts are threads or processes of Ray."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from suphx_platform.bench.riichi.selfplay.selfplay_alone import SelfplayCase

COUNTS = ("requests", "observations", "request_bytes", "reply_bytes", "busy_seconds")
"""Of an engine: attributes of its counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """What was measured end to end."""

    decisions_per_second: float
    observations_per_second: float
    messages_per_second: dict[str, float]
    """Requests to engines, and fragments of decisions that simulators hand over."""
    cpu_seconds: float
    """Of a decision, over all threads and processes."""
    cores_used: dict[str, float]
    """By kind of process: CPU seconds in a second."""
    waiting_shares: dict[str, float | None]
    """Share of the time in which simulators, engines, buffer, driver, learner had nothing to do; null: not there."""
    bytes_per_decision: dict[str, float]
    memory_peak_bytes: dict[str, int]


def together(
    case: SelfplayCase,
    spent: Mapping[str, float],
    *,
    cores_used: dict[str, float],
    memory_peak_bytes: dict[str, int],
) -> Together:
    """Return what comes of sums ``spent`` over the measured time."""
    num_decisions = spent["requests"] * (case.num_tables // 2)  # every table of a half asks each time
    names = ("request", "reply", "trajectory")
    seconds = spent["seconds"]
    if not num_decisions:
        raise ValueError(f"no decision was made in {seconds:.3g} s: measure longer, with --seconds")
    return Together(
        decisions_per_second=num_decisions / seconds,
        observations_per_second=spent["observations"] / seconds,
        messages_per_second={name: spent[name] / seconds for name in ("requests", "fragments")},
        cpu_seconds=sum(cores_used.values()) * seconds / num_decisions,
        cores_used=cores_used,
        waiting_shares={
            "simulators": spent["waited_seconds"] / max(spent["playing_seconds"], 1e-9),
            "engines": 1 - spent["busy_seconds"] / (seconds * (case.num_engines or case.num_simulators)),
            "buffer": 1 - spent["buffer_seconds"] / seconds,
            "driver": 1 - spent["driver_seconds"] / seconds if "driver_seconds" in spent else None,
            "learner": None,
        },
        bytes_per_decision={name: spent[f"{name}_bytes"] / num_decisions for name in names},
        memory_peak_bytes=memory_peak_bytes,
    )
