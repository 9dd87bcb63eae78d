"""How fast scripted agents play a game: whole games in one kernel, and at the tables of a match."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from suphx.games.game import Game
from suphx.selfplay.rollouts.rollout import play_games
from suphx_platform.bench.riichi import compare_rates

KERNELS = ("engine",)
_NUM_TABLES, _GAMES_A_CALL = 500, 2000


def bench_scripted(
    game: Game,
    names: Sequence[str],
    rules: Any,
    play_in_kernel: Callable[[range], int],
    *,
    seed: int,
    num_threads: int,
    seconds: float,
    say: Callable[[str], None],
) -> dict[str, object]:
    """Return the JSON object of ``suphx bench simulator`` for a game of scripted agents; its games are called as usual.

    ``names``: agents by seat. ``play_in_kernel``: plays the games of some seeds on ``num_threads`` and returns their
    number; the tables of a match have one thread.
    """
    word, seeds = game.scoring.games, range(seed, seed + _GAMES_A_CALL)
    agents, seating = [game.scripted_agent(name) for name in names], np.tile(np.arange(len(names)), (len(seeds), 1))

    def play_match() -> int:
        return sum(1 for _ in play_games(agents, seating, seeds, rules, game=game.name, num_tables=_NUM_TABLES))

    calls = {word: lambda: play_in_kernel(seeds), f"match_{word}": play_match}
    say(f"playing {_GAMES_A_CALL:,} {word} at a time (compiles kernels at first use)")
    for call in calls.values():
        call()
    rates = {f"{name}_per_second": rate for name, rate in compare_rates(calls, seconds=seconds).items()}
    return {**rates, "agents": list(names), word: _GAMES_A_CALL, "threads": num_threads, "seed": seed}
