"""The contract of ``suphx/games/game.py`` for games of single hands whose whole state is one record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from suphx.games.game import Bot
from suphx.games.learning import DecisionKind
from suphx.games.mahjong.hand_learning import HandLearning
from suphx.games.mahjong.hand_tables import HandAgent, HandScoring, HandTables
from suphx.games.mahjong.hand_text import HandText
from suphx.games.mahjong.record_files import PART_SUFFIX, HandFiles
from suphx.games.record_tools import PlainRecordTools, Replay, json_line


@dataclass(kw_only=True)
class HandGame:
    """A game, put together from its parts; its kernels are compiled by groups of its own (games/registry.py)."""

    name: str
    title: str
    agents: tuple[str, ...]
    decisions: tuple[DecisionKind, ...]
    learning: HandLearning
    scoring: HandScoring
    text: HandText
    bot: Bot | None = None
    rules: type[Any]
    open_tables: Callable[..., HandTables]
    scripted_agent: Callable[[str], HandAgent]
    files: HandFiles[Any]
    replay: Callable[[Any], Replay]
    """Plays a record again; ValueError where it contradicts the rules."""
    record_suffix: str = PART_SUFFIX
    seat_names: tuple[str, ...] = field(init=False)
    kernel_groups: tuple[str, ...] = field(init=False)
    record_tools: PlainRecordTools[Any] = field(init=False)

    def __post_init__(self) -> None:
        self.seat_names = self.text.seat_names
        self.kernel_groups = f"{self.name} games", f"{self.name} nets"
        self.record_tools = PlainRecordTools(self.files.read, self.replay, self.files.forms, self.scoring)

    def new_rules(self, values: Mapping[str, Any]) -> Any:
        """Return the rules with these values; TypeError and ValueError for others."""
        return self.rules(**values)

    def rules_values(self, rules: Any) -> dict[str, Any]:
        """Return the values of ``rules`` for JSON."""
        return asdict(rules)

    def write_records(self, records: Sequence[Any], path: Path) -> None:
        """Write hands to a file, in the form of its ending."""
        self.files.write(records, path)

    def read_records(self, path: Path) -> Iterator[Any]:
        """Yield the hands of a file, or of all files of a folder; ValueError names what is wrong."""
        return self.files.read(path)

    def read_record(self, text: str) -> Any:
        """Return the hand of one line of a file of records, finished or not; ValueError says what is wrong with it."""
        return self.files.parse(text)

    def new_record(self, rules: Any, seed: int) -> str:
        """Return a hand that was dealt, without a move, as one line of a file of records."""
        tables = self.open_tables(1, rules)
        tables.begin(np.zeros(1, np.int64), [seed])
        return json_line(tables.played_game(tables.state[0], rules, (), "").record).rstrip()

    def recorded_move(self, rules: Any, move: int) -> str:
        """Return a move as records have it."""
        return next(text for text, number in self.text.moves.items() if number == move)

    def next_decision(self, record: Any) -> HandTables:
        """Return a table with the position after the moves of a record, at which nobody waits if the hand is over.

        ValueError for a move that is not legal.
        """
        tables = self.open_tables(1, record.rules)
        tables.state[0] = self.text.positions(record)[-1]
        return tables

    def join_records(self, folder: Path) -> None:
        """Join the files of the parts of a match into one."""
        self.files.join(folder)

    def viewer_game(self, records: Sequence[Any], opinions: Any = None, *, first: int = 1) -> dict[str, Any]:
        """Return recorded hands for the page; ValueError names the hand with an illegal move."""
        return self.text.viewer_game(records, opinions, first=first)
