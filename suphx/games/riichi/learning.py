"""Riichi as nets see it, decide in it and learn it: the ``Learning`` of games/learning.py."""

from __future__ import annotations

from collections.abc import Mapping

from suphx.games.learning import Forward, LearningConfig, LearningOption
from suphx.games.mahjong.planes import PlaneLayout
from suphx.games.riichi.features.encoder import ENCODERS, find_encoder
from suphx.games.riichi.rules import Rules, tenhou
from suphx.games.riichi.selfplay.decision import NO_KEEP_PROBABILITIES, decide
from suphx.games.riichi.selfplay.table_group import TableGroup, stored_observation_bytes
from suphx.kernel.record import I16, I64, Records


class RiichiLearning:
    """How nets see riichi."""

    encoders = tuple(ENCODERS)
    options: frozenset[LearningOption] = frozenset({"hidden", "costs", "draw lanes"})

    def layout(self, encoder: str, kind: int) -> PlaneLayout:
        """Return the planes that a net of a kind sees."""
        return find_encoder(encoder).layout(kind)

    def observation_bytes(self, encoder: str, kind: int, *, has_hidden: bool = False) -> int:
        """Return the bytes of a row of a kind's decisions."""
        return stored_observation_bytes(find_encoder(encoder), kind, has_oracle=has_hidden)

    def candidate_features(self, encoder: str, rules: Rules | None = None) -> None:
        """Return nothing: no kind has candidates."""

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


LEARNING = RiichiLearning()
