"""How fast Dazhong is: hands of scripted agents, whole ones in the kernel and at the tables of a match."""

from __future__ import annotations

from functools import partial
from typing import Any

from suphx.games.dazhong.experiment import PAPER_RULES, group_orders, play_scripted
from suphx.games.registry import load_game
from suphx_platform.bench.scripted_games import bench_decisions, bench_scripted

bench_features = partial(bench_decisions, "dazhong")


def bench_simulator(*, num_threads: int, num_hanchans: int, skips_start: bool, **case: Any) -> dict[str, object]:
    """Return the JSON object of ``suphx bench simulator --game dazhong``: hands of group 1 of the Fanfou paper."""
    names = group_orders(1)[0]

    def play(seeds: range) -> int:
        return len(play_scripted(names, seeds, PAPER_RULES, num_threads=num_threads).seeds)

    return bench_scripted(load_game("dazhong"), names, PAPER_RULES, play, num_threads=num_threads, **case)
