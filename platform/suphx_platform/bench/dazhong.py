"""How fast Dazhong is: hands of scripted agents, whole ones in the kernel and at the tables of a match."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from suphx.games.dazhong.experiment import PAPER_RULES, group_orders, play_scripted
from suphx.games.dazhong.game import GAME
from suphx.selfplay.rollouts.rollout import play_games
from suphx_platform.bench.riichi import compare_rates

KERNELS = ("engine",)
_NUM_TABLES, _HANDS_A_CALL = 500, 2000


def bench_simulator(
    *, seed: int, num_threads: int, seconds: float, say: Callable[[str], None], **_: object
) -> dict[str, object]:
    """Return the JSON object of ``suphx bench simulator --game dazhong``: hands of group 1 of the Fanfou paper.

    ``num_threads``: of the kernel; the tables of a match have one thread.
    """
    names = group_orders(1)[0]
    agents, seeds = [GAME.scripted_agent(name) for name in names], range(seed, seed + _HANDS_A_CALL)

    seating = np.tile(np.arange(len(names)), (len(seeds), 1))

    def play_match() -> int:
        games = play_games(agents, seating, seeds, PAPER_RULES, game=GAME.name, num_tables=_NUM_TABLES)
        return sum(1 for _ in games)

    calls = {
        "hands": lambda: len(play_scripted(names, seeds, PAPER_RULES, num_threads=num_threads).seeds),
        "match_hands": play_match,
    }
    say(f"playing {_HANDS_A_CALL:,} hands at a time (compiles kernels at first use)")
    for call in calls.values():
        call()
    rates = {f"{name}_per_second": rate for name, rate in compare_rates(calls, seconds=seconds).items()}
    return {**rates, "agents": list(names), "hands": _HANDS_A_CALL, "threads": num_threads, "seed": seed}
