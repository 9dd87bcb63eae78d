"""An outside arena: hanchans of PyPI ``riichienv``, at which players that speak mjai sit."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from riichienv import GameRule, RiichiEnv


class Seated(Protocol):
    """Whatever plays a seat: an object of this process, or a program."""

    def see(self, events: list[dict[str, Any]]) -> None:
        """Follow what has happened since the last call."""
        ...

    def answer(self) -> dict[str, Any]:
        """Return a move."""
        ...


@dataclass(slots=True)
class ArenaGame:
    """What was said in one game."""

    events: Counter[str] = field(default_factory=Counter)
    """How often the arena sent each type of event."""
    answers: Counter[str] = field(default_factory=Counter)
    """How often the players answered each type of move, also as ``hora by tsumo`` and, with red fives, ``pon red``."""

    @property
    def num_moves(self) -> int:
        """Moves that the arena asked for."""
        return sum(count for kind, count in self.answers.items() if " " not in kind)

    def note(self, answer: dict[str, Any]) -> None:
        """Count an answer."""
        kind = answer["type"]
        self.answers[kind] += 1
        if kind == "hora":
            self.answers["hora by tsumo" if answer["target"] == answer["actor"] else "hora by ron"] += 1
        if any(tile.endswith("r") for tile in [answer.get("pai", ""), *answer.get("consumed", [])]):
            self.answers[f"{kind} red"] += 1


def play_hanchan(players: Sequence[Seated], seed: int) -> ArenaGame:
    """Play one hanchan by Tenhou's rules, and tell the players how it ended.

    AssertionError at the first move that the arena refuses, and for a move after the end.
    """
    arena = RiichiEnv(game_mode="4p-red-half", rule=GameRule.default_tenhou(), seed=seed)
    game = ArenaGame()
    observations = arena.reset()
    while not arena.done():
        actions: dict[int, Any] = {}
        for seat, observation in observations.items():
            answer = _ask(players[seat], [json.loads(event) for event in observation.new_events()], game)
            actions[seat] = observation.select_action_from_mjai(answer)
            allowed = [action.to_mjai() for action in observation.legal_actions()]
            assert actions[seat] is not None, f"game {seed}, seat {seat}: {answer} is not among {allowed}"
        observations = arena.step(actions)
    last = _events_after_the_last_move(arena.mjai_log)
    for seat, player in enumerate(players):
        answer = _ask(player, last, game)
        assert answer == {"type": "none"}, f"game {seed}, seat {seat}: {answer} after the end"
    return game


def _events_after_the_last_move(log: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return how the game ended: the arena asks nobody after it, but servers send it."""
    ends = ("hora", "ryukyoku", "end_kyoku", "end_game")
    num_events = next(number for number, event in enumerate(reversed(log)) if event["type"] not in ends)
    return list(log[len(log) - num_events :])


def _ask(player: Seated, events: list[dict[str, Any]], game: ArenaGame) -> dict[str, Any]:
    """Return the answer of a player to what is new since its last one."""
    game.events.update(event["type"] for event in events)
    player.see(events)
    answer = player.answer()
    game.note(answer)
    return answer
