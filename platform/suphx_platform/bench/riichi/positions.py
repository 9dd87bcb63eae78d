"""Samples to measure with: of real games if a folder of records is given, else of games of a scripted agent."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from suphx.games.riichi import (
    GameLog,
    KyokuStore,
    Quarantine,
    Replayer,
    Samples,
    StoreWriter,
    encode_kyokus,
    parse_all,
    tenhou,
)
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.rollouts.rollout import play_games

PLAYER = "ukeire"
GAMES_A_BATCH = 8
MAX_DIFFERENT = 8192


def collect_samples(
    records: Path | None, head: int, encoder: str, num_samples: int, *, seed: int, say: Callable[[str], None]
) -> Samples:
    """Return ``num_samples`` samples of ``head`` in a random order.

    Games are taken until there are enough samples, but at most 8,192 different ones; then they come again. Raises
    ValueError if there is no sample at all.
    """
    say(f"encoding positions of {records}" if records else f"encoding positions of games that {PLAYER} plays")
    parts: list[Samples] = []
    logs = _recorded(records) if records else _played(seed)
    while sum(len(part.labels) for part in parts) < min(num_samples, MAX_DIFFERENT):
        games = list(itertools.islice(logs, GAMES_A_BATCH))
        if not games:
            break
        parts.append(_encode(games, head, encoder))
    count = sum(len(part.labels) for part in parts)
    if not count:
        raise ValueError(f"{records} has no position for this net: use other records")
    chosen = np.resize(np.random.default_rng(seed).permutation(count), num_samples)
    return Samples(
        np.concatenate([part.planes for part in parts])[chosen],
        np.concatenate([part.masks for part in parts])[chosen],
        np.concatenate([part.labels for part in parts])[chosen],
    )


def _recorded(records: Path) -> Iterator[GameLog]:
    replayer = Replayer()
    for log in parse_all([records], 1, quarantine=Quarantine()):
        if not replayer.replay(log):
            yield log


def _played(seed: int) -> Iterator[GameLog]:
    agent = load_agent(PLAYER)
    seating = np.zeros((GAMES_A_BATCH, 4), np.int64)
    for first in itertools.count(seed, GAMES_A_BATCH):
        yield from play_games([agent], seating, range(first, first + GAMES_A_BATCH), tenhou())


def _encode(games: list[GameLog], head: int, encoder: str) -> Samples:
    with tempfile.TemporaryDirectory(prefix="suphx-bench-") as name:
        with StoreWriter(Path(name)) as writer:
            for game in games:
                writer.add(game)
        store = KyokuStore.open(Path(name))
        return encode_kyokus(store, np.arange(store.num_kyokus), head, encoder)
