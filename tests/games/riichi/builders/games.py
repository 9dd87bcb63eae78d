"""Small records by hand: a drawn kyoku in which everybody discards what they draw."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np

from suphx.games.mahjong.shanten import load_suits, standard_shanten
from suphx.games.riichi import table as codes
from suphx.games.riichi.records.game_log import GameLog, KyokuLog
from suphx.games.riichi.records.kyoku_builder import KyokuBuilder
from suphx.games.riichi.records.replay import GameRecorder
from suphx.games.riichi.rules import Rules
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.tile import kind_of_face
from suphx.kernel.record import U8

NAMES = ("Anna", "ⓝBen", "クレオ", "D & <D>")


@functools.cache
def random_game(seed: int, rules: Rules | None = None) -> GameLog:
    """Return one whole game; the same one for the same seed. Callers must not change it."""
    rules = rules or Rules()
    simulator = Simulator(1, rules, stops_at_kyoku_end=True)
    recorder = GameRecorder(simulator)
    only = np.array([0])
    simulator.reset([seed])
    recorder.begin_kyokus(only)
    rng = np.random.default_rng(seed)
    table = simulator.tables[0]
    while table["phase"] != codes.GAME_END:
        if table["phase"] == codes.KYOKU_END:
            recorder.take_kyokus(only)
            simulator.next_kyoku(only)
            recorder.begin_kyokus(only)
        else:
            recorder.advance(only, np.array([choose_hastily(table, rng)], np.int16))
    return dataclasses.replace(recorder.finish(0, f"game-{seed}", NAMES), room="general")


def choose_hastily(table: np.void, rng: np.random.Generator) -> int:
    """Return a legal action: win, declare riichi, declare kans; call at random; else discard what is needed least."""
    legal = np.flatnonzero(table["legal"]).tolist()
    for action in (codes.TSUMO, codes.RON, codes.RIICHI, codes.NINE_TERMINALS):
        if action in legal:
            return int(action)
    kans = [action for action in legal if codes.ANKAN <= action < codes.TSUMO]
    if kans:
        return int(kans[0])
    if codes.PASS in legal:
        calls = [action for action in legal if codes.PON <= action < codes.PASS]
        wanted = 0.3 if calls and calls[0] < codes.CHI else 0.1
        return int(rng.choice(calls)) if calls and rng.random() < wanted else codes.PASS
    return min(legal, key=lambda action: (shanten_after(table, action), rng.random()))


def shanten_after(table: np.void, action: int) -> int:
    """Return the shanten that a discard leaves."""
    seat = int(table["actor"])
    kind = kind_of_face(int(table["drawn"]) if action == codes.TSUMOGIRI else action)
    hand = table["hand"][seat].copy()
    hand[kind] -= 1
    return int(standard_shanten(load_suits(), hand, int(table["num_melds"][seat])))


def assert_same_game(first: GameLog, second: GameLog) -> None:
    """Check that two logs are equal in everything."""
    for name in [field.name for field in dataclasses.fields(GameLog) if field.name != "kyokus"]:
        assert getattr(first, name) == getattr(second, name), name
    for one, other in zip(first.kyokus, second.kyokus, strict=True):
        for field in dataclasses.fields(KyokuLog):
            assert np.array_equal(getattr(one, field.name), getattr(other, field.name)), field.name


OTHER_VALUES: dict[str, Any] = {
    "num_winds": 1,
    "target_points": 40_000,
    "bust": "never",
    "leftover_sticks": "lost",
    "red_fives": "mp",
    "kuikae": "allowed",
    "noten_payment": 1200,
    "riichi_min_tiles": 0,
    "ankan_after_riichi": "never",
    "kan_dora": "none",
    "max_rons": 3,
    "pao": "none",
    "double_wind_pair_fu": 2,
}


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
    builder.end_in_draw(codes.EXHAUSTIVE_DRAW, [0, 0, 0, 0])
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
