"""Rates of several engines that take turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

ROUNDS = 3


def compare_rates(calls: Mapping[str, Callable[[], int]], *, seconds: float, rounds: int = ROUNDS) -> dict[str, float]:
    """Return for each of ``calls`` the median over the rounds of its units per second; each call returns its units.

    In every round each candidate in turn is called until ``seconds`` have passed, at least once.
    """
    rates: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            rates[name].append(_rate(call, seconds))
    return {name: statistics.median(values) for name, values in rates.items()}


def _rate(call: Callable[[], int], seconds: float) -> float:
    started = time.perf_counter()
    units = call()
    while (elapsed := time.perf_counter() - started) < seconds:
        units += call()
    return units / elapsed
