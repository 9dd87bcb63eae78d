"""A recorded hand in memory, of games whose whole state is one record: its JSON, and its moves made again."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from suphx.games.mahjong.hand_tables import MAX_SEED
from suphx.games.mahjong.shanten import Suits, load_suits
from suphx.kernel.record import Records


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRecord(ABC):
    """A hand, perhaps one that was not finished; a game adds what else it records."""

    game: ClassVar[str]
    title: ClassVar[str]
    """What it is called: a hand of a game."""
    seat_names: ClassVar[tuple[str, ...]]
    new_rules: ClassVar[Callable[..., Any]]
    kinds: ClassVar[Mapping[str, int]]
    """Kinds of tiles by their names of two letters."""
    moves_by_text: ClassVar[Mapping[str, int]]
    """All moves."""
    rules: Any
    seed: int = 0
    """Of the deal: the random moves of agents follow from it. 0 if the hand was not played here."""
    wall: tuple[int, ...]
    """The kinds of all tiles."""
    moves: tuple[int, ...]
    players: tuple[str, ...] = ()
    """Who played, by seat; empty if nobody knows."""
    outcomes: tuple[tuple[int, ...], ...] = field(default=(), compare=False)
    """What each seat did in a hand that was just played, numbers as the game counts; empty if the record was read."""

    def __post_init__(self) -> None:
        if np.bincount(self.wall, minlength=len(self.kinds)).tolist() != [4] * len(self.kinds):
            raise ValueError(f"the wall does not have four tiles of each of the {len(self.kinds)} kinds")
        if not 0 <= self.seed < MAX_SEED:
            raise ValueError(f"the seed is {self.seed}: use 0 to 2**62 - 1")
        if len(self.players) not in (0, len(self.seat_names)):
            raise ValueError(f"there are {len(self.players)} players: name four or none")

    @staticmethod
    @abstractmethod
    def step(t: Any, suits: Suits, move: int) -> None:
        """Play a legal move at a table."""

    def own_values(self) -> dict[str, Any]:
        """Return what the JSON object has besides."""
        return {}

    @classmethod
    def own_fields(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of ``own_values``."""
        return {}

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of this hand."""
        names = {kind: name for name, kind in self.kinds.items()}
        texts = {move: text for text, move in self.moves_by_text.items()}
        return {
            "game": self.game,
            "seed": self.seed,
            "rules": asdict(self.rules),
            **self.own_values(),
            "wall": "".join(names[kind] for kind in self.wall),
            "players": list(self.players),
            "moves": [texts[move] for move in self.moves],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Return the hand of a JSON object; ValueError for another one."""
        try:
            return cls(
                rules=cls.new_rules(**values["rules"]),
                seed=int(values["seed"]),
                wall=tuple(cls.kinds[name] for name in re.findall("..", values["wall"])),
                moves=tuple(cls.moves_by_text[move] for move in values["moves"]),
                players=tuple(map(str, values["players"])),
                **cls.own_fields(values),
            )
        except (KeyError, TypeError, AttributeError, OverflowError) as error:
            raise ValueError(f"this is not a {cls.title}: {error!r} is missing or wrong") from error

    @classmethod
    def play_move(cls, table: Any, move: int) -> None:
        """Play a move at a table; ValueError for one that is not legal."""
        if not table["legal"][move]:
            text = next((text for text, other in cls.moves_by_text.items() if other == move), str(move))
            seat = cls.seat_names[table["actor"]]
            raise ValueError(f"move {int(table['num_decisions']) + 1}, {seat}: {text} is not legal")
        cls.step(table, load_suits(), move)

    def play(self, tables: Records) -> Any:
        """Play the moves of a hand that begins at the first of ``tables``, and return the last one.

        After each move the next table has the hand. ValueError for an illegal move.
        """
        for number, move in enumerate(self.moves):
            tables[number + 1] = tables[number]
            self.play_move(tables[number + 1], move)
        return tables[len(self.moves)]


def set_wall(table: Any, wall: Sequence[int]) -> None:
    """Give a table the tiles of a wall, by the kinds in their order."""
    table["wall"][np.argsort(np.array(wall), kind="stable")] = np.arange(len(wall))
