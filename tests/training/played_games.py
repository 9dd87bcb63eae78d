"""A store of hanchans that agents without any skill played: cheap, and different every time."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from suphx.games.riichi.records.archive.store import KyokuStore, StoreWriter
from suphx.games.riichi.table.rules import Rules, tenhou
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.rollouts.rollout import play_games


def played_store(folder: Path, num_games: int, *, rules: Rules | None = None, player: str = "tsumogiri") -> KyokuStore:
    agent = load_agent(player)
    seating = np.zeros((num_games, 4), np.int64)
    with StoreWriter(folder) as writer:
        for log in play_games([agent], seating, range(num_games), rules or tenhou()):
            writer.add(log)
    return KyokuStore.open(folder)
