"""An outside arena: hanchans of PyPI ``riichienv``, at which players that speak mjai sit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from riichienv import GameRule, RiichiEnv

from suphx_platform.agents.mjai_player import MjaiPlayer


def play_hanchan(players: Sequence[MjaiPlayer], seed: int) -> int:
    """Play one hanchan; return the number of moves. AssertionError at the first one that the arena refuses."""
    arena = RiichiEnv(game_mode="4p-red-half", rule=GameRule.default_tenhou(), seed=seed)
    observations = arena.reset()
    num_moves = 0
    while not arena.done():
        actions: dict[int, Any] = {}
        for seat, observation in observations.items():
            players[seat].see([json.loads(event) for event in observation.new_events()])
            answer = players[seat].answer()
            actions[seat] = observation.select_action_from_mjai(answer)
            allowed = [action.to_mjai() for action in observation.legal_actions()]
            assert actions[seat] is not None, f"game {seed}, seat {seat}: {answer} is not among {allowed}"
            num_moves += 1
        observations = arena.step(actions)
    return num_moves
