"""Riichi as the layers above see it: the contract of ``suphx/games/game.py``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from suphx.games.learning import Forward, HiddenPlanes, LearningConfig, LearningOption
from suphx.games.mahjong.planes import PlaneLayout
from suphx.games.mahjong.suit_exchange import KINDS, exchanged_choices
from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.archive.record_writer import RiichiRecordTools, write_records
from suphx.games.riichi.archive.store import KyokuStore, write_store
from suphx.games.riichi.features.encoder import ENCODERS, find_encoder
from suphx.games.riichi.features.oracle import ORACLE, seen_planes
from suphx.games.riichi.features.samples import encode_kyokus
from suphx.games.riichi.match_tables import number_tables
from suphx.games.riichi.names import AGENTS, DECISIONS
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.rules import Rules, tenhou
from suphx.games.riichi.selfplay.decision import NO_KEEP_PROBABILITIES, decide
from suphx.games.riichi.selfplay.table_group import TableGroup, stored_observation_bytes
from suphx.games.riichi.tables import RiichiScoring, RiichiTables, ScriptedAgent
from suphx.kernel.record import I16, I64, Records


class RiichiSamples:
    """What nets learn from recorded games: the ``RecordedSamples`` of games/learning.py."""

    write = staticmethod(write_store)
    open = staticmethod(KyokuStore)
    encode = staticmethod(encode_kyokus)
    suit_choices = tuple(exchanged_choices(KINDS) if kind.num_choices else exchanged_choices() for kind in DECISIONS)


class RiichiLearning:
    """Riichi as nets see it, decide in it and learn it: the ``Learning`` of games/learning.py."""

    encoders = tuple(ENCODERS)
    options: frozenset[LearningOption] = frozenset({"hidden", "draw lanes", "archive", "game rewards", "playouts"})
    hidden = HiddenPlanes(ORACLE, seen_planes)
    rules_version = "tenhou-1"
    samples = RiichiSamples()

    def layout(self, encoder: str, kind: int) -> PlaneLayout:
        """Return the planes that a net of a kind sees."""
        return find_encoder(encoder).layout(kind)

    def observation_bytes(self, encoder: str, kind: int, *, has_hidden: bool = False) -> int:
        """Return the bytes of a row of a kind's decisions."""
        return stored_observation_bytes(find_encoder(encoder), kind, has_oracle=has_hidden)

    def decide(
        self,
        tables: Records,
        indices: I64,
        encoder: str,
        forward: Forward,
        keep_probabilities: Mapping[int, float] = NO_KEEP_PROBABILITIES,
    ) -> I16:
        """Return a legal action for each of the tables ``indices``, in the order of Figure 1 (decision.py)."""
        return decide(tables, indices, find_encoder(encoder), forward, keep_probabilities)

    def new_learning_tables(
        self, config: LearningConfig, encoder: str, rules: Rules | None = None, *, first_seed: int
    ) -> TableGroup:
        """Deal the first games."""
        return TableGroup(config, find_encoder(encoder), rules or tenhou(), first_seed=first_seed)


class Riichi:
    """The game of the paper: hanchans of four, by Tenhou's rules."""

    name = "riichi"
    title = "riichi"
    seat_names = ("East", "South", "West", "North")
    agents = AGENTS
    scoring = RiichiScoring()
    kernel_groups = ("engine", "encoder", "scripted games", "net games")
    record_suffix = ".tsv.xz"
    record_tools = RiichiRecordTools()
    text = None
    bot = None
    decisions = DECISIONS
    learning = RiichiLearning()

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
