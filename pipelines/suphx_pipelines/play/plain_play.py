"""``suphx play`` for a game that has only rules and agents: moves are typed as their numbers.

>>> PlainPlay(setup, print, input).play(first_seed=1)  # until the person types quit
TextPlayResult(deals=3, won=2)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from suphx.games.game import Agent, Game, PlayedGame
from suphx_pipelines.play.text_play import TextPlayResult


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainSetup:
    """Who plays what, and where the records go."""

    game: Game
    rules: Any
    agent: Agent
    """At all seats but the person's."""
    seat: int
    """Of the person."""
    name: str
    """Of the person."""
    records: Path


class PlainPlay:
    """Consumes: numbers that the person types. Produces: lines on the screen, and a file of records after each deal."""

    def __init__(self, setup: PlainSetup, show: Callable[[str], None], read: Callable[[str], str]) -> None:
        """``show`` prints a line; ``read`` prints a prompt and returns what is typed, EOFError at the end of input."""
        self._setup, self._show, self._read = setup, show, read
        seats = range(len(setup.game.seat_names))
        self._names = [setup.name if seat == setup.seat else setup.agent.name for seat in seats]

    def play(self, first_seed: int) -> TextPlayResult:
        """Play the deals ``first_seed``, ``first_seed`` + 1, … until the person leaves; a deal that is left is lost."""
        setup, records, won = self._setup, list[Any](), 0
        for seed in count(first_seed):
            played = self._deal(seed)
            if played is None:
                break
            places, _ = setup.game.scoring.settle(np.array([played.points]), [()])
            records.append(played.record)
            won += int(self._is_first(places[0].tolist()))
            setup.game.write_records(records, setup.records)
            points = zip(setup.game.seat_names, played.points, strict=True)
            self._show(", ".join(f"{name}: {value:g}" for name, value in points))
            self._show(f"{won} of {len(records)} deals won so far.")
            if self._ask("Enter for the next deal, or quit > ") is None:
                break
        return TextPlayResult(len(records), won)

    def _is_first(self, places: list[int]) -> bool:
        sides = getattr(self._setup.game.scoring, "side_of_seat", range(len(places)))
        return places[sides[self._setup.seat]] == 1

    def _deal(self, seed: int) -> PlayedGame | None:
        """Play one deal; None if the person leaves."""
        setup, table = self._setup, np.zeros(1, np.int64)
        tables = setup.game.open_tables(1, setup.rules)
        tables.begin(table, [seed])
        self._show(f"Deal with the seed {seed}: you are {setup.game.seat_names[setup.seat]}.")
        while tables.waiting().size:
            seat = int(tables.actors(table)[0])
            if seat != setup.seat:
                (move,) = setup.agent.act(tables.state, table).tolist()
                tables.advance(table, np.array([move]))
            elif (typed := self._ask(f"move, 0 to {tables.num_moves - 1}, or quit > ")) is None:
                return None
            elif not typed.isdecimal() or int(typed) >= tables.num_moves:
                self._show(f"  {typed!r} is no move")
                continue
            else:
                move = int(typed)
                try:
                    tables.advance(table, np.array([move]))
                except ValueError as error:
                    self._show(f"  {error}")
                    continue
            self._show(f"  {setup.game.seat_names[seat]}: {move}")
        tables.take_ended()
        return tables.take_game(0, str(seed), self._names)

    def _ask(self, prompt: str) -> str | None:
        """Return what is typed, None if the person leaves."""
        try:
            typed = self._read(prompt).strip()
        except (EOFError, KeyboardInterrupt):
            return None
        return None if typed.lower() in ("q", "quit") else typed
