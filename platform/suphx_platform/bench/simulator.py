"""How many random hanchans a second the rules play, how soon a fresh process can begin, and how a peer compares."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from suphx.games.riichi.bots import play_random
from suphx.games.riichi.peers import RiichiEnvPeer
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.table import TABLE
from suphx_platform.bench.timing import compare_rates

# What anybody's first program does; every decision takes the first legal action.
_FIRST_GAME = """
import numpy as np
from suphx import Simulator, tenhou
simulator = Simulator(1, tenhou())
simulator.reset([0])
while (waiting := simulator.waiting()).size:
    simulator.advance(waiting, np.argmax(simulator.tables["legal"][waiting], axis=1))
"""


def bench_simulator(
    *,
    num_hanchans: int,
    seed: int,
    num_threads: int,
    has_peer: bool,
    seconds: float,
    skips_start: bool,
    say: Callable[[str], None],
) -> dict[str, object]:
    """Return the JSON object of ``suphx bench simulator``; what was not asked for is null.

    Everybody plays ``num_hanchans`` at a time, again until ``seconds`` have passed, and then it is the next one's turn:
    we on ``num_threads`` threads, we on one thread, the peer on one thread. ``scaling`` is the first rate over the
    second, ``ratio`` the second over the third. ValueError if the peer, RiichiEnv, is not installed.
    """
    other = RiichiEnvPeer() if has_peer else None
    say("compiling or loading kernels")
    play = play_random(num_hanchans, tenhou(), seed=seed, num_threads=num_threads)

    def run_ours(threads: int) -> int:
        play_random(num_hanchans, tenhou(), seed=seed, num_threads=threads)
        return num_hanchans

    calls: dict[str, Callable[[], int]] = {"ours": lambda: run_ours(num_threads)}
    if num_threads > 1:
        calls["ours on one thread"] = lambda: run_ours(1)
    peer_decisions: list[int] = []
    if other is not None:
        other.play(1, seed)

        def run_peer() -> int:
            peer_decisions.append(other.play(num_hanchans, seed))
            return num_hanchans

        calls["peer"] = run_peer
    say(f"playing {num_hanchans:,} hanchans at a time")
    rates = compare_rates(calls, seconds=seconds)
    one_thread = rates.get("ours on one thread", rates["ours"])
    decisions_each = float(play.decisions.mean())
    cold, warm = (None, None) if skips_start else measure_start(say)
    return {
        "hanchans_per_second": rates["ours"],
        "decisions_per_second": rates["ours"] * decisions_each,
        "decisions_per_hanchan": decisions_each,
        "kyoku_per_hanchan": float(play.kyokus.mean()),
        "bytes_per_table": TABLE.itemsize,
        "threads": num_threads,
        "scaling": rates["ours"] / one_thread if num_threads > 1 else None,
        "hanchans": num_hanchans,
        "seed": seed,
        "cold_start_seconds": cold,
        "warm_start_seconds": warm,
        "peer": _describe_peer(other, rates, peer_decisions, num_hanchans),
        "ratio": one_thread / rates["peer"] if other else None,
    }


def _describe_peer(
    peer: RiichiEnvPeer | None, rates: dict[str, float], decisions: list[int], num_hanchans: int
) -> dict[str, object] | None:
    if peer is None:
        return None
    decisions_each = decisions[0] / num_hanchans
    return {
        "name": peer.name,
        "version": peer.version,
        "hanchans_per_second": rates["peer"],
        "decisions_per_second": rates["peer"] * decisions_each,
        "decisions_per_hanchan": decisions_each,
    }


def measure_start(say: Callable[[str], None]) -> tuple[float, float]:
    """Return the seconds of a whole process that plays one game: with an empty kernel cache, then with a full one."""
    with tempfile.TemporaryDirectory(prefix="suphx-bench-") as folder:
        say("measuring the cold start, which compiles all kernels")
        return _time_first_game(folder), _time_first_game(folder)


def _time_first_game(cache: str) -> float:
    environment = {**os.environ, "SUPHX_CACHE": cache, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", _FIRST_GAME], env=environment, check=True)
    return time.perf_counter() - started
