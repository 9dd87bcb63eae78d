"""Comparison of game logs, which hold arrays."""

from __future__ import annotations

import dataclasses

import numpy as np

from suphx.games.riichi.records.log.gamelog import GameLog, KyokuLog


def assert_same_game(first: GameLog, second: GameLog) -> None:
    """Check that two logs are equal in everything."""
    for name in [field.name for field in dataclasses.fields(GameLog) if field.name != "kyokus"]:
        assert getattr(first, name) == getattr(second, name), name
    for one, other in zip(first.kyokus, second.kyokus, strict=True):
        for field in dataclasses.fields(KyokuLog):
            assert np.array_equal(getattr(one, field.name), getattr(other, field.name)), field.name
