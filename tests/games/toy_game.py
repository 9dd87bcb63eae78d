"""A toy game of four seats with only rules and scripted agents: each plays one of four cards, the highest takes all.

In each of four tricks every seat plays one of its cards, the winner of a trick gets the sum of its cards as points. A
move is the value of a card. Importing this module registers the game, so that worker processes know it, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suphx.atomic_file import write_atomically
from suphx.games.game import PlayedGame
from suphx.games.learning import DecisionKind
from suphx.games.registry import GameEntry, register
from suphx.games.scoring import SeatScoring
from suphx.json_text import parse_json
from suphx.kernel.record import I32, I64

NUM_SEATS = NUM_TRICKS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ToyRules:
    """Cards have the values 0 to ``num_values`` - 1."""

    num_values: int = 13


class ToyTables:
    """``Tables``: how many cards of each value the seats have, [tables, seats, values]."""

    def __init__(self, num_tables: int, rules: ToyRules) -> None:
        self.rules, self.num_moves = rules, rules.num_values
        self.hands: I64 = np.zeros((num_tables, NUM_SEATS, rules.num_values), np.int64)
        self.points: I64 = np.zeros((num_tables, NUM_SEATS), np.int64)
        self.seeds: I64 = np.zeros(num_tables, np.int64)
        self.num_played: I64 = np.full(num_tables, NUM_SEATS * NUM_TRICKS)
        self.moves: I64 = np.zeros((num_tables, NUM_SEATS * NUM_TRICKS), np.int64)
        self.shares: NDArray[np.float64] = np.zeros(num_tables)
        self._ended: list[int] = []

    @property
    def state(self) -> ToyTables:
        return self

    def begin(self, indices: I64, seeds: Sequence[int]) -> None:
        for index, seed in zip(indices.tolist(), seeds, strict=True):
            cards = np.random.default_rng(seed).integers(self.num_moves, size=(NUM_SEATS, NUM_TRICKS))
            self.hands[index] = [np.bincount(own, minlength=self.num_moves) for own in cards]
            self.points[index], self.num_played[index], self.seeds[index] = 0, 0, seed

    def waiting(self) -> I64:
        return np.flatnonzero(self.num_played < NUM_SEATS * NUM_TRICKS)

    def actors(self, indices: I64) -> I64:
        return self.num_played[indices] % NUM_SEATS

    def trick(self, index: int) -> I64:
        """Return the cards of the trick that is played."""
        end = self.num_played[index]
        return self.moves[index, end - end % NUM_SEATS : end]

    def legal(self, indices: I64) -> tuple[I64, I32]:
        rows, values = np.nonzero(self.hands[indices, self.actors(indices)])
        offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(indices)))])
        return offsets, values.astype(np.int32)

    def advance(self, indices: I64, moves: I64) -> None:
        for index, seat, move in zip(indices.tolist(), self.actors(indices).tolist(), moves.tolist(), strict=True):
            if not self.hands[index, seat, move]:
                raise ValueError(f"table {index}, seat {seat}: there is no card {move}")
            self.hands[index, seat, move] -= 1
            self.moves[index, self.num_played[index]] = move
            trick = [*self.trick(index), move]
            self.num_played[index] += 1
            if seat == NUM_SEATS - 1:
                self.points[index, np.argmax(trick)] += sum(trick)
                self.shares[index] += 1 / NUM_TRICKS
            if self.num_played[index] == NUM_SEATS * NUM_TRICKS:
                self._ended.append(index)

    def take_ended(self) -> I64:
        ended, self._ended = np.array(self._ended, np.int64), []
        return ended

    def take_game(self, index: int, game_id: str, names: Sequence[str]) -> PlayedGame:
        moves = self.moves[index].tolist()
        record = {"seed": int(self.seeds[index]), "rules": asdict(self.rules), "moves": moves, "players": list(names)}
        return PlayedGame(game_id, tuple(self.points[index].tolist()), record)


class ToyAgent:
    """``random`` plays any card, by the seed of the deal; ``lowest`` and ``highest`` that card; ``greedy`` its highest
    one, or the lowest if that loses."""

    def __init__(self, name: str) -> None:
        if name not in ToyGame.agents:
            raise ValueError(f"{name!r} is not an agent of toy: use {' or '.join(ToyGame.agents)}")
        self.name = name

    def act(self, tables: ToyTables, indices: I64) -> I64:
        moves = []
        for index, seat in zip(indices.tolist(), tables.actors(indices).tolist(), strict=True):
            cards = np.flatnonzero(tables.hands[index, seat])
            rng = np.random.default_rng([tables.seeds[index], tables.num_played[index]])
            wins = cards[-1] > tables.trick(index).max(initial=-1)
            own = {"random": rng.choice(cards), "lowest": cards[0], "highest": cards[-1]}
            moves.append(own.get(self.name, cards[-1] if wins else cards[0]))
        return np.array(moves, np.int64)


class ToyGame:
    """The game as the layers above see it; nothing of it can be learned (``learned_toy.py``)."""

    name = "toy"
    title = "the toy game"
    seat_names = ("north", "east", "south", "west")
    agents = ("random", "lowest", "highest", "greedy")
    decisions: tuple[DecisionKind, ...] = ()
    learning: Any = None
    scoring = SeatScoring()
    kernel_groups = ()
    record_suffix = ".toy"
    text = None
    bot = None
    record_tools = None

    def new_rules(self, values: Mapping[str, Any]) -> ToyRules:
        return ToyRules(**values)

    def rules_values(self, rules: ToyRules) -> dict[str, Any]:
        return asdict(rules)

    def open_tables(self, num_tables: int, rules: ToyRules) -> ToyTables:
        return ToyTables(num_tables, rules)

    def scripted_agent(self, name: str) -> ToyAgent:
        return ToyAgent(name)

    def write_records(self, records: Sequence[Any], path: Path) -> None:
        write_atomically(path, [json.dumps(record).encode() + b"\n" for record in records])

    def join_records(self, folder: Path) -> None:
        """The files of tasks stay as they are."""

    def read_records(self, path: Path) -> Iterator[Any]:
        for file in sorted(path.glob("*.toy")) if path.is_dir() else [path]:
            yield from map(parse_json, file.read_bytes().splitlines())

    def viewer_game(self, records: Sequence[Any], opinions: Any = None, *, first: int = 1) -> dict[str, Any]:
        return {"game": self.name, "deals": [{"number": number, **own} for number, own in enumerate(records, first)]}


GAME = ToyGame()
register(GameEntry(name="toy", title=GAME.title, module=__name__))
