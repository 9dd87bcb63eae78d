"""How fast MCR is: games of random moves, and counted winning hands."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from suphx.games.mcr.benchmark import collect_wins, count_wins
from suphx.games.mcr.table import NUM_SEATS, Rules
from suphx.games.mcr.tables import play_scripted
from suphx.games.registry import load_game
from suphx_platform.bench.riichi import compare_rates
from suphx_platform.bench.scripted_games import bench_decisions, bench_scripted

bench_features = partial(bench_decisions, "mcr")


def bench_simulator(*, num_threads: int, num_hanchans: int, skips_start: bool, **case: Any) -> dict[str, object]:
    """Return the JSON object of ``suphx bench simulator --game mcr``."""
    names, rules = ("random",) * NUM_SEATS, Rules()

    def play(seeds: range) -> int:
        return len(play_scripted(names, seeds, rules, num_threads=num_threads))

    return bench_scripted(load_game("mcr"), names, rules, play, num_threads=num_threads, **case)


def bench_hands(*, num_hands: int, seed: int, seconds: float, say: Callable[[str], None]) -> dict[str, object]:
    """Return the JSON object of ``suphx bench hands --game mcr``: winning hands counted on one thread."""
    say(f"collecting {num_hands:,} winning hands (compiles kernels at first use)")
    wins = collect_wins(num_hands, seed=seed)
    fans = count_wins(wins, 0)
    say(f"counting {num_hands:,} hands")
    rates = compare_rates({"fan_counts": lambda: len(count_wins(wins, 0))}, seconds=seconds)
    return {
        "fan_counts_per_second": rates["fan_counts"],
        "mean_fan": float(fans.mean()),
        "hands": num_hands,
        "seed": seed,
    }
