"""MCR as the layers above see it: the contract of ``suphx/games/game.py``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from suphx.games.mahjong.record_files import PART_SUFFIX
from suphx.games.mcr.bot import BOT
from suphx.games.mcr.learning import LEARNING
from suphx.games.mcr.names import AGENTS, DECISIONS
from suphx.games.mcr.record import GameRecord
from suphx.games.mcr.records import RECORD_TOOLS, join_records, read_records, write_records
from suphx.games.mcr.table import SEAT_NAMES, Rules
from suphx.games.mcr.tables import McrScoring, McrTables, ScriptedAgent
from suphx.games.mcr.text import McrText


class Mcr:
    """Chinese Official mahjong in the duplicate format: single games, each seat for itself."""

    name = "mcr"
    title = "Chinese Official mahjong"
    seat_names = SEAT_NAMES
    agents = AGENTS
    decisions = DECISIONS
    learning = LEARNING
    scoring = McrScoring()
    kernel_groups = ("mcr games", "mcr nets")
    record_suffix = PART_SUFFIX
    text = McrText()
    record_tools = RECORD_TOOLS
    bot = BOT
    open_tables = staticmethod(McrTables)
    scripted_agent = staticmethod(ScriptedAgent)
    join_records = staticmethod(join_records)
    read_records = staticmethod(read_records)
    viewer_game = staticmethod(text.viewer_game)

    def new_rules(self, values: Mapping[str, Any]) -> Rules:
        """Return the rules with these values; TypeError and ValueError for others."""
        return Rules(**values)

    def rules_values(self, rules: Rules) -> dict[str, Any]:
        """Return the values of ``rules`` for JSON."""
        return asdict(rules)

    def write_records(self, records: Sequence[GameRecord], path: Path) -> None:
        """Write games to a file, a line each."""
        write_records(records, path)


GAME = Mcr()
