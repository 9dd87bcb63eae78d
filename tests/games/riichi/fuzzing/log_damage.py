"""Damage to games in memory: walls, moves, starts and results that contradict each other but reach the rules engine."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from random import Random

import numpy as np

from suphx.games.riichi.records.game_log import ACTION_BITS, GameLog, KyokuLog, empty_result, move
from suphx.games.riichi.rules import Rules
from suphx.games.riichi.table import (
    EXHAUSTIVE_DRAW,
    FOUR_WINDS_DRAW,
    NAGASHI_MANGAN,
    NUM_ACTIONS,
    RESULT,
    RIICHI,
    TRIPLE_RON_DRAW,
    TSUMOGIRI,
)

Damage = Callable[[Random, KyokuLog], None]

_ACTION_MASK = (1 << ACTION_BITS) - 1


def damage_log(random: Random, log: GameLog) -> GameLog:
    """Return a copy of ``log`` with one deal, or its rules, damaged in one way or a few."""
    kyokus = [_copy(kyoku) for kyoku in log.kyokus]
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        random.choice(_DAMAGES)(random, random.choice(kyokus))
    rules = log.rules
    if random.random() < 0.1:
        rules = Rules(
            num_winds=random.randint(1, 2), open_tanyao=random.random() < 0.5, red_fives=random.choice(("mps", "p", ""))
        )
    if random.random() < 0.1:
        random.shuffle(kyokus)
    return dataclasses.replace(log, kyokus=kyokus, rules=rules)


def _copy(kyoku: KyokuLog) -> KyokuLog:
    result = empty_result()
    for name in RESULT.names or ():
        result[name] = kyoku.result[name]
    return dataclasses.replace(kyoku, wall=kyoku.wall.copy(), moves=kyoku.moves.copy(), result=result)


def swap_tiles(random: Random, kyoku: KyokuLog) -> None:
    """Let two tiles of the wall change places, or a few; mostly among those that are seen."""
    for _ in range(random.choice((1, 1, 3, 30))):
        first, second = random.randrange(136), random.randrange(136)
        kyoku.wall[[first, second]] = kyoku.wall[[second, first]]


def change_move(random: Random, kyoku: KyokuLog) -> None:
    if kyoku.moves.size:
        kyoku.moves[random.randrange(kyoku.moves.size)] = _any_move(random)


def declare_riichi(random: Random, kyoku: KyokuLog) -> None:
    """Let a seat declare riichi before a discard: the tiles allow it, the rules hardly ever do."""
    places = np.flatnonzero((kyoku.moves & _ACTION_MASK) <= TSUMOGIRI)
    if places.size:
        place = int(random.choice(places))
        kyoku.moves = np.insert(kyoku.moves, place, move(int(kyoku.moves[place]) >> ACTION_BITS, RIICHI))


def discard_as_drawn(random: Random, kyoku: KyokuLog) -> None:
    """Turn a discard, mostly a late one, into a tsumogiri: possible then, but often not what comes later."""
    places = np.flatnonzero((kyoku.moves & _ACTION_MASK) < TSUMOGIRI)
    if places.size:
        place = int(random.choice((places[-1], random.choice(places))))
        kyoku.moves[place] = move(int(kyoku.moves[place]) >> ACTION_BITS, TSUMOGIRI)


def end_early(random: Random, kyoku: KyokuLog) -> None:
    """Let the deal end in a draw after some discard."""
    cut_moves(random, kyoku)
    kyoku.result["num_wins"] = 0
    kyoku.result["result"] = random.choice((EXHAUSTIVE_DRAW, NAGASHI_MANGAN, FOUR_WINDS_DRAW, TRIPLE_RON_DRAW))
    kyoku.result["deltas"] = random.choice(((0, 0, 0, 0), (1500, 1500, -1500, -1500), (8000, 0, 0, 0)))


def drop_move(random: Random, kyoku: KyokuLog) -> None:
    if kyoku.moves.size:
        kyoku.moves = np.delete(kyoku.moves, random.randrange(kyoku.moves.size))


def insert_move(random: Random, kyoku: KyokuLog) -> None:
    place = random.randrange(kyoku.moves.size + 1)
    kyoku.moves = np.insert(kyoku.moves, place, _any_move(random))


def swap_moves(random: Random, kyoku: KyokuLog) -> None:
    if kyoku.moves.size > 1:
        place = random.randrange(kyoku.moves.size - 1)
        kyoku.moves[place : place + 2] = kyoku.moves[[place + 1, place]]


def cut_moves(random: Random, kyoku: KyokuLog) -> None:
    kyoku.moves = kyoku.moves[: random.randrange(kyoku.moves.size + 1)].copy()


def scramble_moves(random: Random, kyoku: KyokuLog) -> None:
    """Replace all moves from some place on by any numbers."""
    place = random.randrange(kyoku.moves.size + 1)
    kyoku.moves[place:] = [random.getrandbits(16) for _ in range(kyoku.moves.size - place)]


def change_start(random: Random, kyoku: KyokuLog) -> None:
    kind = random.randrange(4)
    if kind == 0:
        kyoku.kyoku = random.randrange(12)
    elif kind == 1:
        kyoku.honba = random.choice((0, 1, 19, 999))
    elif kind == 2:
        kyoku.kyotaku = random.choice((0, 1, 5, 999))
    else:
        first, second, third, fourth = (random.choice((0, 900, 1000, 25_000, -(10**8), 10**8)) for _ in range(4))
        kyoku.scores = (first, second, third, fourth)


def change_result(random: Random, kyoku: KyokuLog) -> None:
    name = random.choice(RESULT.names or ())
    values = kyoku.result[name]
    if isinstance(values, np.ndarray):
        values.reshape(-1)[random.randrange(values.size)] = random.choice((-1, 0, 1, 2, 3, 4, 127))
    else:
        kyoku.result[name] = random.choice((0, 1, 2, 3, 4, 5, 6, 7, 8))


def _any_move(random: Random) -> int:
    if random.random() < 0.1:
        return random.getrandbits(16)
    return move(random.randrange(4), random.randrange(NUM_ACTIONS + 8))


_DAMAGES: tuple[Damage, ...] = (
    swap_tiles, swap_tiles, swap_tiles, change_move, change_move, change_move, drop_move, insert_move, insert_move,
    swap_moves, cut_moves, scramble_moves, change_start, change_start, change_result, change_result, declare_riichi,
    declare_riichi, discard_as_drawn, end_early, end_early,
)  # fmt: skip
