"""How fast MCR is: games of random moves, whole ones in the kernel and at the tables of a match."""

from __future__ import annotations

from typing import Any

from suphx.games.mcr.table import NUM_SEATS, Rules
from suphx.games.mcr.tables import play_scripted
from suphx.games.registry import load_game
from suphx_platform.bench.scripted_games import KERNELS, bench_scripted

__all__ = ["KERNELS", "bench_simulator"]


def bench_simulator(*, num_threads: int, num_hanchans: int, skips_start: bool, **case: Any) -> dict[str, object]:
    """Return the JSON object of ``suphx bench simulator --game mcr``."""
    names, rules = ("random",) * NUM_SEATS, Rules()

    def play(seeds: range) -> int:
        return len(play_scripted(names, seeds, rules, num_threads=num_threads))

    return bench_scripted(load_game("mcr"), names, rules, play, num_threads=num_threads, **case)
