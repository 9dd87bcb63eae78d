"""Games of hasty agents that win, call and declare riichi whenever they can: full of everything a record can show."""

from __future__ import annotations

import functools

import numpy as np

from suphx.games.riichi.engine.simulator import Simulator
from suphx.games.riichi.hand.shanten import standard_shanten
from suphx.games.riichi.hand.suit_table import load_suits
from suphx.games.riichi.records.log.game_recorder import GameRecorder
from suphx.games.riichi.records.log.gamelog import GameLog
from suphx.games.riichi.table.action import ANKAN, CHI, NINE_TERMINALS, PASS, PON, RIICHI, RON, TSUMO, TSUMOGIRI
from suphx.games.riichi.table.rules import Rules
from suphx.games.riichi.table.table import GAME_END, KYOKU_END
from suphx.games.riichi.table.tile import kind_of_face

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
    while table["phase"] != GAME_END:
        if table["phase"] == KYOKU_END:
            recorder.take_kyokus(only)
            simulator.next_kyoku(only)
            recorder.begin_kyokus(only)
        else:
            recorder.advance(only, np.array([choose_hastily(table, rng)], np.int16))
    return recorder.finish(0, f"game-{seed}", NAMES)


def choose_hastily(table: np.void, rng: np.random.Generator) -> int:
    """Return a legal action: win, declare riichi, declare kans; call at random; else discard what is needed least."""
    legal = np.flatnonzero(table["legal"]).tolist()
    for action in (TSUMO, RON, RIICHI, NINE_TERMINALS):
        if action in legal:
            return int(action)
    kans = [action for action in legal if ANKAN <= action < TSUMO]
    if kans:
        return int(kans[0])
    if PASS in legal:
        calls = [action for action in legal if PON <= action < PASS]
        wanted = 0.3 if calls and calls[0] < CHI else 0.1
        return int(rng.choice(calls)) if calls and rng.random() < wanted else PASS
    return min(legal, key=lambda action: (_shanten_after(table, action), rng.random()))


def _shanten_after(table: np.void, action: int) -> int:
    seat = int(table["actor"])
    kind = kind_of_face(int(table["drawn"]) if action == TSUMOGIRI else action)
    hand = table["hand"][seat].copy()
    hand[kind] -= 1
    return int(standard_shanten(load_suits(), hand, int(table["num_melds"][seat])))
