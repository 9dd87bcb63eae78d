"""How fast scripted agents play a game, in one kernel and at the tables of a match, and how fast nets see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from suphx.experience.observation import Observations
from suphx.games.game import Game
from suphx.games.learning import KindOutputs
from suphx.games.registry import load_game
from suphx.kernel.jit import map_on_threads
from suphx.kernel.record import I64
from suphx.selfplay.rollouts.rollout import play_games
from suphx_platform.bench.riichi import compare_rates

_NUM_TABLES, _GAMES_A_CALL = 500, 2000
_TABLES_A_CALL = 1024  # rows stay in the cache, as where they are sent to a device batch by batch


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


def bench_decisions(
    name: str, *, num_decisions: int, seed: int, num_threads: int, seconds: float, say: Callable[[str], None]
) -> dict[str, object]:
    """Return the JSON object of ``suphx bench features`` for the game ``name`` of scripted agents.

    Measured is all that a decision of a net takes but the net: its observation, and the move of its choice. Positions
    are those of games of the last agent. On ``num_threads`` threads and on one in turn.
    """
    game = load_game(name)
    learning = game.learning
    assert learning is not None
    encoder, agent = learning.encoders[0], game.agents[-1]
    say(f"collecting positions of {agent} (compiles kernels at first use)")
    positions = _positions(game, agent, num_decisions, seed)
    parts = [np.arange(len(positions))[at : at + _TABLES_A_CALL] for at in range(0, len(positions), _TABLES_A_CALL)]

    def decide(part: I64) -> int:
        asked: list[int] = []

        def forward(observations: Observations, _: I64) -> KindOutputs:
            asked.append(len(observations))
            return observations.masks.argmax(axis=1).astype(np.int16), np.zeros(len(observations), np.float32)

        learning.decide(positions, part, encoder, forward, {})
        return sum(asked)

    def deciding(threads: int) -> Callable[[], int]:
        return lambda: sum(map_on_threads(decide, parts, threads))

    decisions = deciding(1)()
    say(f"encoding {decisions:,} decisions")
    rates = compare_rates({str(threads): deciding(threads) for threads in {num_threads, 1}}, seconds=seconds)
    return {
        "decisions_per_second": rates[str(num_threads)],
        "bytes_per_row": learning.observation_bytes(encoder, game.decisions[0].number),
        "threads": num_threads,
        "scaling": rates[str(num_threads)] / rates["1"] if num_threads > 1 else None,
        "decisions": decisions,
        "positions": f"games of {agent}",
        "seed": seed,
    }


def _positions(game: Game, name: str, number: int, seed: int) -> Any:
    """Return ``Tables.state`` of at least so many tables: all positions of games of an agent."""
    num_tables = min(_NUM_TABLES, 1 + number // 100)
    tables, agent = game.open_tables(num_tables, game.new_rules({})), game.scripted_agent(name)
    parts: list[Any] = []
    while sum(map(len, parts)) < number:
        tables.begin(np.arange(num_tables), seeds=range(seed, seed + num_tables))
        seed += num_tables
        while (waiting := tables.waiting()).size:
            parts.append(tables.state[waiting])
            tables.advance(waiting, agent.act(tables.state, waiting).astype(np.int64))
        for index in tables.take_ended().tolist():
            tables.take_game(index, "", game.seat_names)
    return np.concatenate(parts)
