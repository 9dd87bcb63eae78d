"""DouDizhu as the layers above see it: the contract of ``suphx/games/candidate_game.py``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from suphx.games.candidate_game import (
    F32,
    KeptGames,
    NetColumns,
    NoteForfeit,
    Opinions,
    Player,
    RecordedDecisions,
    SideResults,
)
from suphx.games.doudizhu.bots import AGENTS
from suphx.games.doudizhu.engine import Auction, Simulator
from suphx.games.doudizhu.features import HISTORY_SHAPE, LANDLORD_COLUMNS, PEASANT_COLUMNS, move_columns
from suphx.games.doudizhu.moves import move_text
from suphx.games.doudizhu.records.game_record import GameRecord, find_records, parse_line, record_of, seen_by
from suphx.games.doudizhu.records.game_text import DouDizhuText
from suphx.games.doudizhu.records.viewer_game import viewer_game
from suphx.games.doudizhu.selfplay import ScriptedPlayer, next_decision, play_decks, play_games, recorded_decisions
from suphx.games.doudizhu.table import LANDLORD, NUM_SEATS, SEAT_NAMES, Rules
from suphx.kernel.record import U8


class DouDizhu:
    """The game of the landlord against two peasants."""

    name = "doudizhu"
    seat_names = SEAT_NAMES
    sides = ("landlord", "peasant")
    agents = AGENTS
    text = DouDizhuText()

    def new_rules(self, values: Mapping[str, Any]) -> Rules:
        """Return the rules with these values; TypeError and ValueError for others."""
        return Rules(**values)

    def rules_values(self, rules: Rules) -> dict[str, Any]:
        """Return the values of ``rules`` for JSON."""
        return rules.values()

    def with_auctions(self, rules: Rules, *, has_auctions: bool) -> Rules:
        """Return ``rules`` with or without bidding."""
        return replace(rules, bidding=has_auctions)

    def net_columns(self, seat: int) -> NetColumns:
        """Return the inputs of the net of ``seat``."""
        columns = HISTORY_SHAPE[1]
        state = LANDLORD_COLUMNS if seat == LANDLORD else PEASANT_COLUMNS
        return NetColumns(state=state, history=columns, candidate=columns // NUM_SEATS)

    def candidate_columns(self, rules: Rules) -> U8:
        """Return uint8 [moves, 54]: the cards of each move."""
        return move_columns(rules.load_moves())

    def play(self, rules: Rules, seeds: Sequence[int], player: Player) -> F32:
        """Play one whole game for each seed; return float32 [games, 3]: what it was worth by ``rules.scoring``."""
        simulator = Simulator(len(seeds), rules)
        simulator.reset(seeds)
        play_games(simulator, [player], np.zeros((len(seeds), NUM_SEATS), np.int64))
        return simulator.scores()

    def new_auction(self, rules: Rules, seed: int) -> Auction | None:
        """Return the auction before the deal ``seed``; None if ``rules`` have no bidding."""
        return Auction(seed) if rules.bidding else None

    def play_auctioned(self, rules: Rules, auction: Auction, player: Player) -> F32:
        """Play the game that follows an auction; return float32 [1, 3]: what it was worth by ``rules.scoring``."""
        simulator = Simulator(1, rules)
        simulator.start(0, auction)
        play_games(simulator, [player], np.zeros((1, NUM_SEATS), np.int64))
        return simulator.scores()

    def play_match(
        self,
        num_deals: int,
        rules: Rules,
        first: Player,
        second: Player,
        *,
        first_seed: int = 0,
        kept: KeptGames | None = None,
        note_forfeit: NoteForfeit = lambda player, reason: None,
    ) -> dict[str, SideResults]:
        """Play each deck twice, with the sides swapped; return the results of ``first`` as landlord and as peasants."""
        results = play_decks(
            num_deals, rules, first, second, first_seed=first_seed, kept=kept, note_forfeit=note_forfeit
        )
        return {
            "landlord": SideResults(results.landlord_wins, results.landlord_points),
            "peasant": SideResults(results.peasant_wins, results.peasant_points),
        }

    def seen_by(self, simulator: Simulator, table: int) -> dict[str, Any]:
        """Return what the seat that is to move sees (docs/doudizhu.md)."""
        return seen_by(simulator.tables[table], simulator.rules)

    def scripted_player(self, name: str) -> ScriptedPlayer:
        """Return a scripted agent; ValueError unless ``name`` is one of ``agents``."""
        return ScriptedPlayer(name)

    def read_records(self, path: Path) -> Iterator[GameRecord]:
        """Yield the games of a file, JSON lines or the text of one game, or of a folder of such files."""
        return find_records(path)

    def read_record(self, text: str) -> GameRecord:
        """Return the game of one line of JSON."""
        return parse_line(text)

    def new_record(self, rules: Rules, seed: int) -> str:
        """Return a game without a move as one line of JSON, without a winner: more moves can be appended."""
        simulator = Simulator(1, rules)
        simulator.reset([seed])
        values = record_of(simulator.tables[0], rules).to_json()
        del values["winner"]
        return json.dumps(values)

    def next_decision(self, record: GameRecord) -> RecordedDecisions | None:
        """Return the decision after the moves of a record; None if the game is over."""
        return next_decision(record)

    def recorded_move(self, rules: Rules, move: int) -> str:
        """Return the cards of a move, or "pass"."""
        return move_text(rules.load_moves(), move)

    def recorded_decisions(self, record: GameRecord) -> RecordedDecisions:
        """Return the decisions of a recorded game."""
        return recorded_decisions(record)

    def viewer_game(
        self, records: Sequence[GameRecord], opinions: Sequence[Opinions] | None = None, *, first: int = 1
    ) -> dict[str, Any]:
        """Return recorded games as the viewer's page shows them."""
        return viewer_game(records, opinions, first=first)


GAME = DouDizhu()
