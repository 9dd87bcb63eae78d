"""How fast the rules of riichi are: random hanchans, scored hands and encoded decisions a second.

Everything is compiled before the clock starts. ``compare_rates`` also serves the scripts in ``benchmarks/``, in which
other programs take turns with ours.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from suphx.games.riichi.benchmark import collect_wins, observed_candidates, played_positions, score_wins
from suphx.games.riichi.bots import play_random
from suphx.games.riichi.features.encoder import encode_observations, find_encoder
from suphx.games.riichi.features.suit_targets import load_lookup
from suphx.games.riichi.names import DISCARD_HEAD, KONG_HEAD
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.shanten import count_shanten
from suphx.games.riichi.table import TABLE
from suphx.kernel.jit import map_on_threads
from suphx.kernel.record import I64, Records

KERNELS = {
    "simulator": ("engine", "random games"),
    "hands": ("engine",),
    "features": ("engine", "encoder", "scripted games", "replay", "samples"),
}
"""What each measurement needs."""
_ROUNDS = 3


def compare_rates(calls: Mapping[str, Callable[[], int]], *, seconds: float) -> dict[str, float]:
    """Return for each of ``calls`` the median over three rounds of its units per second; each call returns its units.

    In every round each of them in turn is called until ``seconds`` have passed, at least once.
    """
    rates: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(_ROUNDS):
        for name, call in calls.items():
            started, units, elapsed = time.perf_counter(), 0, 0.0
            while not units or elapsed < seconds:
                units += call()
                elapsed = time.perf_counter() - started
            rates[name].append(units / elapsed)
    return {name: statistics.median(values) for name, values in rates.items()}


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
    *, num_hanchans: int, seed: int, num_threads: int, seconds: float, skips_start: bool, say: Callable[[str], None]
) -> dict[str, object]:
    """Return the JSON object of ``suphx bench simulator``; what was not measured is null.

    On ``num_threads`` threads and on one in turn; ``scaling`` is the first rate over the second.
    """

    def playing(threads: int) -> Callable[[], int]:
        return lambda: len(play_random(num_hanchans, tenhou(), seed=seed, num_threads=threads).decisions)

    say(f"playing {num_hanchans:,} hanchans at a time")
    play = play_random(num_hanchans, tenhou(), seed=seed, num_threads=num_threads)
    rates = compare_rates({str(threads): playing(threads) for threads in {num_threads, 1}}, seconds=seconds)
    rate, decisions_each = rates[str(num_threads)], float(play.decisions.mean())
    cold, warm = (None, None) if skips_start else _measure_start(say)
    return {
        "hanchans_per_second": rate,
        "decisions_per_second": rate * decisions_each,
        "decisions_per_hanchan": decisions_each,
        "kyoku_per_hanchan": float(play.kyokus.mean()),
        "bytes_per_table": TABLE.itemsize,
        "threads": num_threads,
        "scaling": rate / rates["1"] if num_threads > 1 else None,
        "hanchans": num_hanchans,
        "seed": seed,
        "cold_start_seconds": cold,
        "warm_start_seconds": warm,
    }


def _measure_start(say: Callable[[str], None]) -> tuple[float, float]:
    """Return the seconds of a whole process that plays one game: with an empty kernel cache, then with a full one."""
    with tempfile.TemporaryDirectory(prefix="suphx-bench-") as folder:
        say("measuring the cold start, which compiles all kernels")
        return _time_first_game(folder), _time_first_game(folder)


def _time_first_game(cache: str) -> float:
    environment = {**os.environ, "SUPHX_CACHE": cache, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", _FIRST_GAME], env=environment, check=True)
    return time.perf_counter() - started


def bench_hands(*, num_hands: int, seed: int, seconds: float, say: Callable[[str], None]) -> dict[str, object]:
    """Return the JSON object of ``suphx bench hands``: everything on one thread."""
    say(f"collecting {num_hands:,} wins")
    wins, hands = collect_wins(num_hands, seed=seed), random_hands(num_hands, seed=seed)
    scores = np.zeros((num_hands, 3), np.int32)

    def score() -> int:
        score_wins(wins, scores)
        return num_hands

    calls: dict[str, Callable[[], int]] = {"scores": score, "shanten": lambda: len(count_shanten(hands))}
    for call in calls.values():
        call()
    say(f"scoring wins and computing the shanten of {num_hands:,} hands")
    rates = compare_rates(calls, seconds=seconds)
    return {**{f"{name}_per_second": rate for name, rate in rates.items()}, "hands": num_hands, "seed": seed}


def random_hands(count: int, *, seed: int) -> NDArray[np.int8]:
    """Return int8 (count, 34): hands dealt at random, 13 and 14 tiles by turns."""
    random = np.random.default_rng(seed)
    hands = np.zeros((count, 34), np.int8)
    for i in range(count):
        np.add.at(hands[i], random.choice(136, 13 + i % 2, replace=False) // 4, 1)
    return hands


FULL, WITHOUT_LOOKAHEAD = "suphx", "suphx-plain"
_PARTS_A_THREAD = 16  # smaller parts end at nearly the same moment
_LEAST_PART = 16
_ROWS_A_CALL = 2048  # rows stay in the cache, as where they are sent to a device batch by batch


def bench_features(
    *, num_decisions: int, seed: int, num_threads: int, seconds: float, say: Callable[[str], None]
) -> dict[str, object]:
    """Return the JSON object of ``suphx bench features``; what was not asked for is null.

    Turn by turn: all planes on ``num_threads`` threads, on one thread, and without look-ahead on one thread;
    ``scaling`` is the first rate over the second.
    """
    say("collecting positions of games of ukeire")
    tables = played_positions(num_decisions, seed)
    calls = {"ours": encoding(FULL, tables, num_threads), "without look-ahead": encoding(WITHOUT_LOOKAHEAD, tables, 1)}
    if num_threads > 1:
        calls["ours on one thread"] = encoding(FULL, tables, 1)
    for name, call in calls.items():
        say(f"encoding {len(tables):,} decisions: {name}")
        call()
    rates = compare_rates(calls, seconds=seconds)
    num_rows = sum(len(owners) for owners, _ in observed_candidates(tables).values())
    one_thread, plain = rates.get("ours on one thread", rates["ours"]), rates["without look-ahead"]
    return {
        "decisions_per_second": rates["ours"],
        "observations_per_second": rates["ours"] * num_rows / len(tables),
        "without_lookahead_per_second": plain,
        "lookahead_microseconds": 1e6 / one_thread - 1e6 / plain,
        "bytes_per_row": find_encoder(FULL).layout(DISCARD_HEAD).observation_bytes,
        "bytes_per_claim_row": find_encoder(FULL).layout(KONG_HEAD).observation_bytes,
        "threads": num_threads,
        "scaling": rates["ours"] / one_thread if num_threads > 1 else None,
        "decisions": len(tables),
        "observations": num_rows,
        "seed": seed,
    }


def encoding(name: str, tables: Records, num_threads: int) -> Callable[[], int]:
    """Return a call that encodes all rows of the decisions once, batch by batch, and returns their number."""
    encoder, lookup, asked = find_encoder(name), load_lookup(), observed_candidates(tables)
    rows = {head: np.zeros((_ROWS_A_CALL, encoder.layout(head).observation_bytes), np.uint8) for head in asked}
    step = _ROWS_A_CALL
    if num_threads > 1:
        step = max(_LEAST_PART, -(-_ROWS_A_CALL // (num_threads * _PARTS_A_THREAD)))

    def encode_head(head: int, owners: I64, candidates: I64) -> None:
        def encode(part: slice) -> None:
            own = rows[head][part.start % _ROWS_A_CALL :][: len(owners[part])]
            encode_observations(encoder.id, lookup, head, tables, owners[part], candidates[part], own)

        for start in range(0, len(owners), _ROWS_A_CALL):
            end = min(start + _ROWS_A_CALL, len(owners))
            map_on_threads(encode, [slice(at, min(at + step, end)) for at in range(start, end, step)], num_threads)

    def encode_all() -> int:
        for head, (owners, candidates) in asked.items():
            encode_head(head, owners, candidates)
        return len(tables)

    return encode_all
