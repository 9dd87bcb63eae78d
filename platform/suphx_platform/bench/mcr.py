"""How fast MCR is: games of random moves, and counted winning hands beside those of another library."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, PON_MELD
from suphx.games.mcr.benchmark import collect_wins, count_wins
from suphx.games.mcr.fans import KNITTED_WAITS_2024, KONG, LAST_OF_KIND, LAST_TILE, MIXED_KONGS, SELF_DRAWN
from suphx.games.mcr.table import KIND_NAMES, NUM_SEATS, Rules
from suphx.games.mcr.tables import play_scripted
from suphx.games.registry import load_game
from suphx_platform.bench.riichi import compare_rates
from suphx_platform.bench.scripted_games import bench_decisions, bench_scripted

bench_features = partial(bench_decisions, "mcr")
PEERS = ("PyMahjongGB",)
"""Libraries that ``bench_hands`` compares with."""
_OPTIONS = MIXED_KONGS | KNITTED_WAITS_2024  # as the peer counts


def bench_simulator(*, num_threads: int, num_hanchans: int, skips_start: bool, **case: Any) -> dict[str, object]:
    """Return the JSON object of ``suphx bench simulator --game mcr``."""
    names, rules = ("random",) * NUM_SEATS, Rules()

    def play(seeds: range) -> int:
        return len(play_scripted(names, seeds, rules, num_threads=num_threads))

    return bench_scripted(load_game("mcr"), names, rules, play, num_threads=num_threads, **case)


def bench_hands(
    *, num_hands: int, seed: int, seconds: float, peer: str | None = None, say: Callable[[str], None]
) -> dict[str, object]:
    """Return the JSON object of ``suphx bench hands --game mcr``: winning hands counted on one thread.

    With ``peer`` that library takes turns with ours on the same hands; ValueError if it is not installed
    or finds other totals.
    """
    calculate = None
    if peer is not None:
        try:
            calculate = import_module("MahjongGB").MahjongFanCalculator
        except ImportError as error:
            raise ValueError(f"{peer} is not installed: pip install PyMahjongGB==1.4.0") from error
    say(f"collecting {num_hands:,} winning hands (compiles kernels at first use)")
    wins = collect_wins(num_hands, seed=seed)
    fans = count_wins(wins, _OPTIONS)
    calls: dict[str, Callable[[], int]] = {"ours": lambda: len(count_wins(wins, _OPTIONS))}
    if calculate is not None:
        cases = [_case_of_peer(win) for win in wins]
        theirs = [sum(value * number for value, number, *_ in calculate(*case)) for case in cases]
        if different := np.count_nonzero(np.array(theirs) != fans):
            raise ValueError(f"{peer} counts {different:,} of {num_hands:,} hands differently: install version 1.4.0")
        calls["peer"] = lambda: len([calculate(*case) for case in cases])
    say(f"counting {num_hands:,} hands")
    rates = compare_rates(calls, seconds=seconds)
    return {
        "fan_counts_per_second": rates["ours"],
        "peer_fan_counts_per_second": rates.get("peer"),
        "times_faster": rates["ours"] / rates["peer"] if "peer" in rates else None,
        "mean_fan": float(fans.mean()),
        "hands": num_hands,
        "seed": seed,
    }


def _case_of_peer(win: Any) -> tuple[Any, ...]:
    """Return the arguments of PyMahjongGB for a WIN."""
    packs = []
    for meld, kind in zip(win["meld_type"][: win["num_melds"]], win["meld_kind"], strict=False):
        word = "CHI" if meld == CHI_MELD else "PENG" if meld == PON_MELD else "GANG"
        packs.append((word, KIND_NAMES[kind + (meld == CHI_MELD)], int(meld != ANKAN_MELD)))
    counts = win["counts"].copy()
    counts[win["win_kind"]] -= 1
    held = tuple(KIND_NAMES[kind] for kind in np.repeat(np.arange(len(counts)), counts))
    flags = [bool(win["circumstances"] & bit) for bit in (SELF_DRAWN, LAST_OF_KIND, KONG, LAST_TILE)]
    winds = int(win["seat_wind"]), int(win["round_wind"])
    return tuple(packs), held, KIND_NAMES[win["win_kind"]], 0, *flags, *winds, True
