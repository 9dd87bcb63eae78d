"""Small records by hand: a drawn kyoku in which everybody discards what they draw."""

from __future__ import annotations

import numpy as np

from suphx.games.riichi.records.log.gamelog import GameLog, KyokuLog
from suphx.games.riichi.records.log.kyoku_builder import KyokuBuilder
from suphx.games.riichi.table.rules import Rules
from suphx.games.riichi.table.table import EXHAUSTIVE_DRAW
from suphx.kernel.record import U8


def builder_of(wall: U8, *, kyoku: int = 0, honba: int = 0, dice: tuple[int, int] = (1, 1)) -> KyokuBuilder:
    """Deal the kyoku of a wall."""
    tiles: list[int] = wall.tolist()
    places = [[16 * block + 4 * step + i for block in range(3) for i in range(4)] + [48 + step] for step in range(4)]
    hands = [[tiles[place] for place in places[(seat - kyoku) % 4]] for seat in range(4)]
    return KyokuBuilder(
        kyoku=kyoku, honba=honba, kyotaku=0, scores=[25_000] * 4, hands=hands, indicator=tiles[130], dice=dice
    )


def drawn_kyoku(wall: U8, *, kyoku: int = 0, honba: int = 0, dice: tuple[int, int] = (1, 1)) -> KyokuLog:
    """Play a kyoku of tsumogiri to its exhaustive draw; nobody is tenpai."""
    builder = builder_of(wall, kyoku=kyoku, honba=honba, dice=dice)
    for turn, tile in enumerate(wall[52:122].tolist()):
        builder.draw((kyoku + turn) % 4, tile)
        builder.discard((kyoku + turn) % 4, tile)
    builder.end_in_draw(EXHAUSTIVE_DRAW, [0, 0, 0, 0])
    return builder.finish()


def drawn_game(*walls: U8, dice: tuple[int, int] = (1, 1)) -> GameLog:
    """Return a (too short) game of such kyokus: East 1, East 2 with one honba, and so on."""
    kyokus = [drawn_kyoku(wall, kyoku=index, honba=index, dice=dice) for index, wall in enumerate(walls)]
    return GameLog(
        id="2022010100gm-0009-0000-00000000",
        rules=Rules(),
        names=("Anna", "Ben", "クレオ", "D"),
        dans=(10, 11, 0, 20),
        ratings=(1500.0, 1723.25, 2100.5, 1999.0),
        room="general",
        kyokus=kyokus,
        final_scores=(25_000, 25_000, 25_000, 25_000),
    )


def shuffled_wall(seed: int) -> U8:
    """Return some wall."""
    return np.random.default_rng(seed).permutation(136).astype(np.uint8)
