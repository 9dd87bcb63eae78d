"""An outside arena: hanchans of PyPI ``riichienv``, at which players that speak mjai sit."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from io import StringIO
from typing import Any

from riichienv import GameRule, RiichiEnv

from suphx_platform.agents.mjai.mjai_arena import MjaiPlayer, play_lines


def play_hanchan(players: Sequence[MjaiPlayer], seed: int) -> Counter[str]:
    """Play one hanchan by Tenhou's rules, tell the players how it ended, and count their moves by type.

    AssertionError at the first move that the arena refuses, and for a move after the end.
    """
    arena = RiichiEnv(game_mode="4p-red-half", rule=GameRule.default_tenhou(), seed=seed)
    moves: Counter[str] = Counter()
    observations = arena.reset()
    while not arena.done():
        actions: dict[int, Any] = {}
        for seat, observation in observations.items():
            events = [json.loads(event) for event in observation.new_events()]
            answer = _ask(players[seat], events, is_single=seat % 2 == 0)
            moves[answer["type"]] += 1
            actions[seat] = observation.select_action_from_mjai(answer)
            allowed = [action.to_mjai() for action in observation.legal_actions()]
            assert actions[seat] is not None, f"game {seed}, seat {seat}: {answer} is not among {allowed}"
        observations = arena.step(actions)
    last = _events_after_the_last_move(arena.mjai_log)
    for seat, player in enumerate(players):
        answer = _ask(player, last, is_single=seat % 2 == 0)
        assert answer == {"type": "none"}, f"game {seed}, seat {seat}: {answer} after the end"
    return moves


def _ask(player: MjaiPlayer, events: list[dict[str, Any]], *, is_single: bool) -> dict[str, Any]:
    """Send lines of one event each, as mjai's own server does, or one line of all; return the answer to the last."""
    output = StringIO()
    play_lines(player, [json.dumps(line).encode() for line in (events if is_single else [events])], output)
    answer: dict[str, Any] = json.loads(output.getvalue().splitlines()[-1])
    return answer


def _events_after_the_last_move(log: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return how the game ended: the arena asks nobody after it, but servers send it."""
    ends = ("hora", "ryukyoku", "end_kyoku", "end_game")
    num_events = next(number for number, event in enumerate(reversed(log)) if event["type"] not in ends)
    return list(log[len(log) - num_events :])
