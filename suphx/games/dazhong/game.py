"""Dazhong as the layers above see it: the contract of ``suphx/games/game.py``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from suphx.games.dazhong.learning import LEARNING
from suphx.games.dazhong.names import AGENTS, DECISIONS
from suphx.games.dazhong.records import FORMS, HandRecord, join_records, read_records, write_records
from suphx.games.dazhong.table import SEAT_NAMES, Rules
from suphx.games.dazhong.tables import DazhongScoring, DazhongTables, ScriptedAgent, replay
from suphx.games.dazhong.text import DazhongText
from suphx.games.mahjong.record_files import PART_SUFFIX
from suphx.games.record_tools import PlainRecordTools


class Dazhong:
    """The game of the paper on prior knowledge and Monte Carlo: single hands, each seat for itself."""

    name = "dazhong"
    title = "Dazhong mahjong"
    seat_names = SEAT_NAMES
    agents = AGENTS
    decisions = DECISIONS
    learning = LEARNING
    scoring = DazhongScoring()
    kernel_groups = ("dazhong games", "dazhong nets")
    record_suffix = PART_SUFFIX
    record_tools = PlainRecordTools(read_records, replay, FORMS, scoring)
    text = DazhongText()
    bot = None
    open_tables = staticmethod(DazhongTables)
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

    def write_records(self, records: Sequence[HandRecord], path: Path) -> None:
        """Write hands to a file, a line each."""
        write_records(records, path)


GAME = Dazhong()
