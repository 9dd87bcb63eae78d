"""How many decisions are encoded a second, with and without the look-ahead planes, and beside a peer's encoder."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import numpy as np

from suphx.games.riichi.benchmark import observed_candidates, observed_tables, recorded_positions
from suphx.games.riichi.features.encoder import Encoder, encode_observations, find_encoder
from suphx.games.riichi.features.suit_targets import load_lookup
from suphx.games.riichi.names import DISCARD_HEAD, KONG_HEAD
from suphx.games.riichi.peers import RiichiEnvPeer
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.tables import ScriptedAgent
from suphx.kernel.jit import map_on_threads
from suphx.kernel.record import I64, U8, Records
from suphx_platform.bench.timing import compare_rates

_PLAYED_TABLES = 64


def played_positions(num_positions: int, seed: int) -> Records:
    """Return TABLE records of decisions in games of the scripted agent ukeire, from many games side by side."""
    agent = ScriptedAgent("ukeire")
    parts: list[Records] = []
    for batch in count():
        simulator = Simulator(_PLAYED_TABLES, tenhou())
        simulator.reset(range(seed + batch * _PLAYED_TABLES, seed + (batch + 1) * _PLAYED_TABLES))
        while (waiting := simulator.waiting()).size:
            asked = observed_tables(simulator.tables, waiting)
            parts.append(simulator.tables[waiting[asked == 1]])
            simulator.advance(waiting, agent.act(simulator.tables, waiting))
            if sum(map(len, parts)) >= num_positions:
                return np.concatenate(parts)[:num_positions]
    raise AssertionError("unreachable")


FULL, WITHOUT_LOOKAHEAD = "suphx", "suphx-plain"

_PARTS_A_THREAD = 16  # smaller parts end at nearly the same moment
_LEAST_PART = 16
_ROWS_A_CALL = 2048  # rows stay in the cache, as where they are sent to a device batch by batch


def bench_features(
    *,
    records: Path | None,
    num_decisions: int,
    seed: int,
    num_threads: int,
    has_peer: bool,
    seconds: float,
    say: Callable[[str], None],
) -> dict[str, object]:
    """Return the JSON object of ``suphx bench features``; what was not asked for is null.

    Turn by turn: all planes on ``num_threads`` threads, on one thread, without look-ahead on one thread, and the peer's
    encoder over observations of its own random games. ``scaling`` is the first rate over the second, ``ratio`` the
    second over the last. ValueError if the peer, RiichiEnv, is not installed, and for records without games.
    """
    other = RiichiEnvPeer() if has_peer else None
    say("collecting positions (compiles kernels at first use)")
    tables = played_positions(num_decisions, seed) if records is None else recorded_positions(records, num_decisions)
    asked = observed_candidates(tables)
    num_rows = sum(len(indices) for indices, _ in asked.values())
    calls = {"ours": _encoding(FULL, tables, asked, num_threads)}
    if num_threads > 1:
        calls["ours on one thread"] = _encoding(FULL, tables, asked, 1)
    calls["without look-ahead"] = _encoding(WITHOUT_LOOKAHEAD, tables, asked, 1)
    if other is not None:
        calls["peer"] = other.prepare_encoding(num_decisions, seed)
    for name, call in calls.items():
        say(f"encoding {len(tables):,} decisions: {name}")
        call()
    rates = compare_rates(calls, seconds=seconds)
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
        "positions": "recorded games" if records else "games of ukeire",
        "seed": None if records else seed,
        "peer": None if other is None else _describe_peer(other, rates["peer"]),
        "ratio": None if other is None else one_thread / rates["peer"],
    }


def _describe_peer(peer: RiichiEnvPeer, rate: float) -> dict[str, object]:
    return {"name": peer.name, "version": peer.version, "planes": peer.num_planes, "decisions_per_second": rate}


def _encoding(name: str, tables: Records, asked: dict[int, tuple[I64, I64]], num_threads: int) -> Callable[[], int]:
    """Return a call that encodes all rows once, batch by batch, and returns the number of decisions."""
    encoder = find_encoder(name)
    rows = {head: np.zeros((_ROWS_A_CALL, encoder.layout(head).observation_bytes), np.uint8) for head in asked}

    def encode() -> int:
        for head, (indices, candidates) in asked.items():
            _encode_all(encoder, head, tables, indices, candidates, rows[head], num_threads)
        return len(tables)

    return encode


def _encode_all(
    encoder: Encoder, head: int, tables: Records, indices: I64, candidates: I64, rows: U8, num_threads: int
) -> None:
    lookup = load_lookup()
    step = len(rows) if num_threads == 1 else max(_LEAST_PART, -(-len(rows) // (num_threads * _PARTS_A_THREAD)))

    def encode(part: slice) -> None:
        own = rows[part.start % len(rows) :][: len(indices[part])]
        encode_observations(encoder.id, lookup, head, tables, indices[part], candidates[part], own)

    for start in range(0, len(indices), len(rows)):
        end = min(start + len(rows), len(indices))
        parts = [slice(first, min(first + step, end)) for first in range(start, end, step)]
        map_on_threads(encode, parts, num_threads)
