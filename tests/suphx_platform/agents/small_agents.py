"""Agents of small nets with random weights, of every game that has nets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from suphx.games.registry import find_learning, load_game
from suphx.selfplay.agents.policy_set import random_policy_set, save_policy_set
from tests.games.doudizhu.builders import save_nets
from tests.selfplay.small_policy_set import SMALL

ENCODERS = {"riichi": "mini", "dazhong": "dazhong", "mcr": "gb184"}
GAMES = (*ENCODERS, "doudizhu")


def save_small(folder: Path, game: str) -> Path:
    """Save nets of a game into a folder, and return it."""
    if game == "doudizhu":
        return save_nets(folder)
    encoder = ENCODERS[game]
    nets = random_policy_set(encoder, SMALL, 1, game=game)
    rules = find_learning(game).rules_version
    save_policy_set(folder, nets, encoder, rules=rules, step=1, extra={"encoder": encoder})
    return folder


def legal_moves(game: str, record: str) -> set[str]:
    """Return the legal moves after the moves of a record, as records have them; none if the game is over."""
    own: Any = load_game(game)
    read = own.read_record(record)
    tables = own.next_decision(read)
    if not tables.waiting().size:
        return set()
    place = np.zeros(1, np.int64)
    moves = tables.legal(place)[1] if hasattr(tables, "legal") else np.flatnonzero(tables.state[0]["legal"])
    return {own.recorded_move(read.rules, move) for move in moves.tolist()}
