"""DouDizhu as the layers above see it: the contract of ``suphx/games/game.py``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from suphx.atomic_file import write_atomically
from suphx.games.doudizhu.engine import Auction, Simulator
from suphx.games.doudizhu.learning import LEARNING
from suphx.games.doudizhu.moves import move_text
from suphx.games.doudizhu.names import AGENTS, DECISIONS
from suphx.games.doudizhu.records.game_record import (
    GameRecord,
    find_records,
    parse_line,
    positions,
    record_of,
    seen_by,
    write_records,
)
from suphx.games.doudizhu.records.game_text import DouDizhuText
from suphx.games.doudizhu.records.viewer_game import viewer_game
from suphx.games.doudizhu.selfplay import DouDizhuTables, ScriptedPlayer, next_decision, recorded_decisions
from suphx.games.doudizhu.table import SEAT_NAMES, Rules
from suphx.games.record_tools import PlainRecordTools, Replay, json_line
from suphx.games.scoring import SideScoring


def _replay(record: GameRecord) -> Replay:
    """Play a recorded game again; ValueError for a move that is not legal."""
    positions(record)
    return Replay({"decisions": len(record.moves)}, None)


class DouDizhu:
    """The game of the landlord against two peasants."""

    name = "doudizhu"
    title = "DouDizhu"
    seat_names = SEAT_NAMES
    sides = ("landlord", "peasant")
    agents = AGENTS
    decisions = DECISIONS
    learning = LEARNING
    scoring = SideScoring(
        deal="deck",
        sides=sides,
        side_of_seat=(0, 1, 1),
        deals_per_task=250,  # nets answer many tables faster
        deals_per_look=100,
        deals_per_lineup=20,
        first_seed=2**33,  # no training and no curve uses these decks, and those of tournaments begin at 2**37
        deals_per_seed=2**20,
        fresh_distance=2**17,
        max_seed=2**16,
    )
    kernel_groups = ()
    record_suffix = ".jsonl.part"
    record_tools = PlainRecordTools(find_records, _replay, {"json": (".jsonl", json_line)}, scoring)
    text = DouDizhuText()
    bot = None
    rules_values = staticmethod(Rules.values)
    open_tables = staticmethod(DouDizhuTables)
    scripted_agent = staticmethod(ScriptedPlayer)
    read_records = staticmethod(find_records)
    read_record = staticmethod(parse_line)
    recorded_decisions = staticmethod(recorded_decisions)
    next_decision = staticmethod(next_decision)
    viewer_game = staticmethod(viewer_game)

    def new_rules(self, values: Mapping[str, Any]) -> Rules:
        """Return the rules with these values; TypeError and ValueError for others."""
        return Rules(**values)

    def with_auctions(self, rules: Rules, *, has_auctions: bool) -> Rules:
        """Return ``rules`` with or without bidding."""
        return replace(rules, bidding=has_auctions)

    def new_auction(self, rules: Rules, seed: int) -> Auction | None:
        """Return the auction before the deal ``seed``; None if ``rules`` have no bidding."""
        return Auction(seed) if rules.bidding else None

    def seen_by(self, simulator: Simulator, table: int) -> dict[str, Any]:
        """Return what the seat that is to move sees (docs/doudizhu.md)."""
        return seen_by(simulator.tables[table], simulator.rules)

    def write_records(self, records: Sequence[GameRecord], path: Path) -> None:
        """Write games to a file, a line each."""
        write_records(path, records)

    def join_records(self, folder: Path) -> None:
        """Put the games of a match, in the order of its decks, into one file ``games.jsonl``.

        A file that is there has all of them: an earlier call was cut off while it removed the parts.
        """
        parts = sorted(folder.glob("decks-*.jsonl.part"), key=lambda path: int(path.name.split("-")[1]))
        joined = folder / "games.jsonl"
        if parts and not joined.exists():
            write_atomically(joined, (path.read_bytes() for path in parts))
        for path in parts:
            path.unlink()

    def new_record(self, rules: Rules, seed: int) -> str:
        """Return a game without a move as one line of JSON, without a winner: more moves can be appended."""
        simulator = Simulator(1, rules)
        simulator.reset([seed])
        values = record_of(simulator.tables[0], rules).to_json()
        del values["winner"]
        return json.dumps(values)

    def recorded_move(self, rules: Rules, move: int) -> str:
        """Return the cards of a move, or "pass"."""
        return move_text(rules.load_moves(), move)


GAME = DouDizhu()
