"""Riichi as ``HeadGame``: what the parts of Figure 6 need of it."""

from __future__ import annotations

from suphx.games.head_game import GroupConfig, Head, HeadGame
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.features.head import HEAD_NAMES, NUM_CHOICES
from suphx.games.riichi.selfplay.table_group import TableGroup, stored_observation_bytes
from suphx.games.riichi.table.rules import tenhou
from suphx.games.riichi.table.tile import face_name

_YES_OR_NO = ("no", "yes")


class Riichi:
    """The game of the paper: hanchans of four, by Tenhou's rules."""

    name = "riichi"
    heads = tuple(
        Head(name=name, outputs=tuple(map(face_name, range(choices))) or _YES_OR_NO, num_choices=choices)
        for name, choices in zip(HEAD_NAMES, NUM_CHOICES, strict=True)
    )

    def new_tables(self, config: GroupConfig, encoder: str, *, first_seed: int) -> TableGroup:
        """See ``HeadGame``."""
        return TableGroup(config, find_encoder(encoder), tenhou(), first_seed=first_seed)

    def observation_bytes(self, encoder: str, head: int, *, has_oracle: bool) -> int:
        """See ``HeadGame``."""
        return stored_observation_bytes(find_encoder(encoder), head, has_oracle=has_oracle)


GAME: HeadGame = Riichi()
