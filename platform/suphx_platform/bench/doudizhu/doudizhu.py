"""How many random games of DouDizhu a second one core plays, how many decisions of nets, and how peers compare."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from suphx.games.candidate_game import candidate_game
from suphx.games.doudizhu import SEAT_NAMES, TABLE, Rules, Simulator, move_columns, play_games, play_scripted
from suphx.models.device import torch_threads, uses_bf16
from suphx.training.monte_carlo.value_player import PlayedMoves, ValuePlayer, new_nets
from suphx_platform.bench.doudizhu.doudizhu_peers import PEERS, Peer
from suphx_platform.bench.timing import compare_rates

_GAMES_A_CALL = 1_000
_OURS = "ours"


def bench_doudizhu(
    *, num_tables: int | None, seed: int, peers: Sequence[str], seconds: float, say: Callable[[str], None]
) -> dict[str, object]:
    """Return the JSON object of ``suphx bench simulator --game doudizhu``; what was not measured is null.

    All play on one thread, and take turns. Random games: cards dealt, legal moves listed, one of them played at random.
    ``nets``, measured only with ``num_tables``: decisions of three nets with their first weights, which give each legal
    move a value; ours play ``num_tables`` games side by side, in bf16 if the CPU has it. ValueError for a peer that is
    unknown or not installed.
    """
    unknown = [name for name in peers if name not in PEERS]
    if unknown:
        raise ValueError(f"{unknown[0]!r} does not play DouDizhu: use {', '.join(PEERS)}")
    others: list[Peer] = [PEERS[name]() for name in peers]
    with torch_threads(1):
        say("compiling or loading kernels")
        games = {_OURS: _random_games(seed), **{other.name: other.random_games(seed) for other in others}}
        rates = _rates(games, seconds, say, "playing random games")
        nets = None if num_tables is None else _bench_nets(num_tables, seed, others, seconds, say)
    decisions_each = float(play_scripted(_GAMES_A_CALL, Rules(), seed=seed).decisions.mean())
    return {
        "game": "doudizhu",
        "games_per_second": rates[_OURS],
        "decisions_per_second": rates[_OURS] * decisions_each,
        "decisions_per_game": decisions_each,
        "bytes_per_table": TABLE.itemsize,
        "seed": seed,
        "peers": {other.name: {"version": other.version, "games_per_second": rates[other.name]} for other in others},
        "ratios": {other.name: rates[_OURS] / rates[other.name] for other in others},
        "nets": nets,
    }


def _bench_nets(
    num_tables: int, seed: int, others: Sequence[Peer], seconds: float, say: Callable[[str], None]
) -> dict[str, object]:
    """Return the decisions of nets per second; a peer without nets of this size is left out."""
    calls = {_OURS: _net_decisions(num_tables, seed)}
    for other in others:
        if (call := other.net_decisions(seed)) is not None:
            calls[other.name] = call
    rates = _rates(calls, seconds, say, f"playing games of nets, {num_tables:,} at a time")
    ours = rates.pop(_OURS)
    return {
        "decisions_per_second": ours,
        "tables": num_tables,
        "peers": {name: {"decisions_per_second": rate} for name, rate in rates.items()},
        "ratios": {name: ours / rate for name, rate in rates.items()},
    }


def _rates(
    calls: dict[str, Callable[[], int]], seconds: float, say: Callable[[str], None], doing: str
) -> dict[str, float]:
    for warm_up in calls.values():
        warm_up()
    say(doing)
    return compare_rates(calls, seconds=seconds)


def _random_games(seed: int) -> Callable[[], int]:
    def play() -> int:
        play_scripted(_GAMES_A_CALL, Rules(), seed=seed)
        return _GAMES_A_CALL

    return play


def _net_decisions(num_tables: int, seed: int) -> Callable[[], int]:
    """Return a call that plays games of nets and returns the number of moves."""
    simulator = Simulator(num_tables, Rules())
    seats = np.zeros((num_tables, len(SEAT_NAMES)), np.int64)
    nets = new_nets(candidate_game("doudizhu"), seed).eval()
    columns, is_bf16 = move_columns(simulator.moves), uses_bf16("auto", torch.device("cpu"))

    def play() -> int:
        played: list[PlayedMoves] = []
        simulator.reset(range(seed, seed + num_tables))
        play_games(simulator, [ValuePlayer(nets, columns, played=played, is_bf16=is_bf16)], seats)
        return sum(len(part.moves) for part in played)

    return play
