"""Riichi as the layers above see it: the contract of ``suphx/games/game.py``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.archive.record_writer import write_records
from suphx.games.riichi.learning import LEARNING
from suphx.games.riichi.match_tables import number_tables
from suphx.games.riichi.names import AGENTS, DECISIONS
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.rules import Rules, tenhou
from suphx.games.riichi.tables import RiichiScoring, RiichiTables, ScriptedAgent


class Riichi:
    """The game of the paper: hanchans of four, by Tenhou's rules."""

    name = "riichi"
    title = "riichi"
    seat_names = ("East", "South", "West", "North")
    agents = AGENTS
    scoring = RiichiScoring()
    kernel_groups = ("engine", "encoder", "scripted games", "net games")
    record_suffix = ".tsv.xz"
    decisions = DECISIONS
    learning = LEARNING

    def new_rules(self, values: Mapping[str, Any]) -> Rules:
        """Return Tenhou's rules with these values; TypeError for others than the game has."""
        return replace(tenhou(), **values) if values else tenhou()

    def rules_values(self, rules: Rules) -> dict[str, Any]:
        """Return the values of ``rules`` for JSON."""
        return asdict(rules)

    def open_tables(self, num_tables: int, rules: Rules, **options: Any) -> RiichiTables:
        """Return empty tables; ``options``: those of ``RiichiTables``."""
        return RiichiTables(num_tables, rules, **options)

    def scripted_agent(self, name: str) -> ScriptedAgent:
        """Return a scripted agent; ValueError unless ``name`` is one of ``agents``."""
        return ScriptedAgent(name)

    def write_records(self, records: Sequence[GameLog], path: Path) -> None:
        """Write games to a compressed table of mjlog records."""
        write_records(records, path, "mjlog")

    def join_records(self, folder: Path) -> None:
        """Number the tables in the order of the match."""
        number_tables(folder)

    def read_records(self, path: Path) -> Iterator[GameLog]:
        """Yield the recorded games of a file or a folder; ValueError names what cannot be read."""
        return iter_records([path], quarantine=Quarantine())


GAME = Riichi()
