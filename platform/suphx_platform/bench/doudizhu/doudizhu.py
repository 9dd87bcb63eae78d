"""How many random games of DouDizhu a second one core plays, how many decisions of nets, and how peers compare."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from suphx.games.doudizhu import SEAT_NAMES, Rules, Simulator, play_games, play_scripted
from suphx.models.device import torch_threads, uses_bf16
from suphx.training.monte_carlo.value_player import PlayedMoves, ValuePlayer, new_nets
from suphx_platform.bench.doudizhu.doudizhu_peers import PEERS, Peer
from suphx_platform.bench.timing import compare_rates

_GAMES_A_CALL = 1_000
_OURS = "ours"


def bench_doudizhu(
    *, num_tables: int, seed: int, peers: Sequence[str], seconds: float, say: Callable[[str], None]
) -> dict[str, object]:
    """Return the JSON object of ``suphx bench doudizhu``; what was not measured is null.

    All play on one thread, and take turns. Random games: cards dealt, legal moves listed, one of them played at random.
    Decisions: games of three nets with their first weights, which give each legal move a value; ours play
    ``num_tables`` games side by side, in bf16 if the CPU has it. ValueError for a peer that is unknown or not
    installed.
    """
    unknown = [name for name in peers if name not in PEERS]
    if unknown:
        raise ValueError(f"{unknown[0]!r} does not play DouDizhu: use {', '.join(PEERS)}")
    others: list[Peer] = [PEERS[name]() for name in peers]
    with torch_threads(1):
        say("compiling or loading kernels")
        games: dict[str, Callable[[], int]] = {_OURS: _random_games(seed)}
        decisions: dict[str, Callable[[], int]] = {_OURS: _net_decisions(num_tables, seed)}
        for other in others:
            games[other.name] = other.random_games(seed)
            if (call := other.net_decisions(seed)) is not None:
                decisions[other.name] = call
        for warm_up in (*games.values(), *decisions.values()):
            warm_up()
        say("playing random games")
        game_rates = compare_rates(games, seconds=seconds)
        say(f"playing games of nets, {num_tables:,} at a time")
        decision_rates = compare_rates(decisions, seconds=seconds)
    return {
        "games_per_second": game_rates[_OURS],
        "decisions_per_second": decision_rates[_OURS],
        "tables": num_tables,
        "seed": seed,
        "peers": [
            {
                "name": other.name,
                "version": other.version,
                "games_per_second": game_rates[other.name],
                "games_ratio": game_rates[_OURS] / game_rates[other.name],
                "decisions_per_second": decision_rates.get(other.name),
                "decisions_ratio": _ratio(decision_rates, other.name),
            }
            for other in others
        ],
    }


def _ratio(rates: dict[str, float], name: str) -> float | None:
    return rates[_OURS] / rates[name] if name in rates else None


def _random_games(seed: int) -> Callable[[], int]:
    def play() -> int:
        play_scripted(_GAMES_A_CALL, Rules(), seed=seed)
        return _GAMES_A_CALL

    return play


def _net_decisions(num_tables: int, seed: int) -> Callable[[], int]:
    """Return a call that plays games of nets and returns the number of moves."""
    simulator = Simulator(num_tables, Rules())
    seats = np.zeros((num_tables, len(SEAT_NAMES)), np.int64)
    nets, is_bf16 = new_nets(seed).eval(), uses_bf16("auto", torch.device("cpu"))

    def play() -> int:
        played: list[PlayedMoves] = []
        simulator.reset(range(seed, seed + num_tables))
        play_games(simulator, [ValuePlayer(nets, simulator.moves, played=played, is_bf16=is_bf16)], seats)
        return sum(len(part.moves) for part in played)

    return play
