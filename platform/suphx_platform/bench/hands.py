"""How many wins are scored and shanten counted a second; peers get the same hands, and their results are compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from suphx.games.riichi.peers import (
    HandPeer,
    PeerScore,
    WonHand,
    collect_wins,
    describe_win,
    load_hand_peer,
    score_wins,
)
from suphx.games.riichi.shanten import count_shanten
from suphx_platform.bench.timing import compare_rates

OURS = "suphx"


def bench_hands(
    *, num_hands: int, seed: int, peers: Sequence[str], seconds: float, say: Callable[[str], None]
) -> dict[str, object]:
    """Return the JSON object of ``suphx bench hands``: everything on one thread.

    ``seconds``: each engine's share of a round. ValueError for a peer that is unknown or not installed.
    """
    others = [load_hand_peer(name) for name in peers]
    say(f"collecting {num_hands:,} wins (compiles kernels at first use)")
    scores, score_mismatches = _bench_scores(num_hands, seed, others, seconds)
    say(f"computing the shanten of {num_hands:,} hands")
    shantens, shanten_mismatches = _bench_shanten(num_hands, seed, others, seconds)
    return {
        "scores_per_second": scores[OURS],
        "shanten_per_second": shantens[OURS],
        "hands": num_hands,
        "seed": seed,
        "peers": {
            peer.name: {
                "version": peer.version,
                "scores_per_second": scores[peer.name],
                "shanten_per_second": shantens[peer.name],
                "score_mismatches": score_mismatches[peer.name],
                "shanten_mismatches": shanten_mismatches[peer.name],
            }
            for peer in others
        },
        "ratios": {
            peer.name: {
                "scores": scores[OURS] / scores[peer.name],
                "shanten": shantens[OURS] / shantens[peer.name],
            }
            for peer in others
        },
        "mismatches": sum(score_mismatches.values()) + sum(shanten_mismatches.values()),
    }


def _bench_scores(
    num_hands: int, seed: int, peers: Sequence[HandPeer], seconds: float
) -> tuple[dict[str, float], dict[str, int]]:
    """Return by name the wins scored a second, and how many scores differ from ours."""
    tables = collect_wins(num_hands, seed=seed)
    results = np.zeros((num_hands, 3), np.int32)

    def score_ours() -> int:
        score_wins(tables, results)
        return num_hands

    score_ours()
    ours = [PeerScore(*(int(value) for value in row)) for row in results]
    wins = [describe_win(table) for table in tables] if peers else []
    calls: dict[str, Callable[[], int]] = {OURS: score_ours}
    mismatches = {}
    for peer in peers:
        score_theirs = peer.prepare_scores(wins)
        mismatches[peer.name] = _count_mismatches(ours, peer, score_theirs(), wins)
        calls[peer.name] = _counted(score_theirs)
    return compare_rates(calls, seconds=seconds), mismatches


def _count_mismatches(
    ours: Sequence[PeerScore], peer: HandPeer, results: Sequence[object], wins: Sequence[WonHand]
) -> int:
    theirs = [peer.read_score(result, win) for result, win in zip(results, wins, strict=True)]
    return sum(a != b for a, b in zip(ours, theirs, strict=True))


def _bench_shanten(
    num_hands: int, seed: int, peers: Sequence[HandPeer], seconds: float
) -> tuple[dict[str, float], dict[str, int]]:
    """Return by name the shanten counted a second, and how many differ from ours."""
    hands = random_hands(num_hands, seed=seed)
    ours = count_shanten(hands)

    def count_ours() -> int:
        count_shanten(hands)
        return num_hands

    calls: dict[str, Callable[[], int]] = {OURS: count_ours}
    mismatches = {}
    for peer in peers:
        count_theirs = peer.prepare_shanten(hands)
        mismatches[peer.name] = int(np.count_nonzero(ours != np.array(count_theirs())))
        calls[peer.name] = _counted(count_theirs)
    return compare_rates(calls, seconds=seconds), mismatches


def random_hands(count: int, *, seed: int) -> NDArray[np.int8]:
    """Return int8 (count, 34): hands dealt at random, 13 and 14 tiles by turns."""
    random = np.random.default_rng(seed)
    hands = np.zeros((count, 34), np.int8)
    for i in range(count):
        np.add.at(hands[i], random.choice(136, 13 + i % 2, replace=False) // 4, 1)
    return hands


def _counted(call: Callable[[], Sequence[object]]) -> Callable[[], int]:
    return lambda: len(call())
