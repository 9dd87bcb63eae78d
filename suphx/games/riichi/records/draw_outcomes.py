"""The hands that are dealt in a record, what every draw made of them, and what the other undrawn tiles would have done.

The tile that is drawn next is equally likely to be any tile that nobody has drawn or seen: the rest of the wall, the
dead wall included. So the mean over these tiles is what a draw is worth before it is made (evaluation/draw_luck.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from suphx.games.mahjong.shanten import Suits, load_suits
from suphx.games.riichi import table as codes
from suphx.games.riichi.ending import count_dora, count_red
from suphx.games.riichi.kyoku import start_kyoku
from suphx.games.riichi.legal import tiles_left
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.replay import follow, is_legal_move, place_deal, recorded_action
from suphx.games.riichi.rules import apply_rules
from suphx.games.riichi.shanten import shanten
from suphx.games.riichi.table import TABLE, Table, dora_kind, is_undrawn
from suphx.games.riichi.tile import NUM_FACES, face_of_id, is_red, kind_of_face
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I64, U8, U16

_DORA_CLASSES = 4
NUM_HAND_STATES = 8 * _DORA_CLASSES
"""Complete, tenpai, 1-shanten, … 6-shanten, each with 0, 1, 2, or 3 and more dora (red fives and melds included)."""
_NO_TILE = -1


class DrawColumn(IntEnum):
    """Columns of a draw; from ``OUTCOMES`` on there is one for each hand state: the undrawn tiles that lead to it."""

    SEAT = 0
    TILES_LEFT = 1
    STATE = 2
    OUTCOMES = 3


_NUM_COLUMNS = DrawColumn.OUTCOMES + NUM_HAND_STATES


@dataclass(frozen=True, slots=True)
class DealDraws:
    """The dealt hands and the draws of one deal."""

    hands: U8
    """uint8 [4]: the state of each seat's first 13 tiles."""
    draws: U8
    """uint8 [draws, 35]: columns as in ``DrawColumn``; up to the first move that the rules forbid."""


def deal_draws(game: GameLog) -> list[DealDraws]:
    """Return the dealt hands and the draws of each deal.

    >>> deal_draws(game)[0].hands  # of the first deal
    array([16, 13, 21, 16], dtype=uint8)
    """
    suits, tables, cursor = load_suits(), np.zeros(1, TABLE), np.zeros(4, np.int64)
    apply_rules(tables, game.rules)
    deals = []
    for log in game.kyokus:
        place_deal(tables, log)
        hands, draws = np.zeros(4, np.uint8), np.zeros((codes.NUM_DRAWS, _NUM_COLUMNS), np.uint8)
        count = _fill_deal(tables[0], suits, log.moves, int(log.result["result"]), cursor, hands, draws)
        deals.append(DealDraws(hands, draws[:count].copy()))
    return deals


@jit
def _fill_deal(t: Table, suits: Suits, moves: U16, result: int, cursor: I64, hands: U8, draws: U8) -> int:
    """Replay one deal from its wall and return the number of draws; a turn after a call has none."""
    cursor[:] = 0
    start_kyoku(t, suits)
    undrawn, dora = np.zeros(NUM_FACES, np.int8), np.zeros(NUM_FACES, np.int8)
    _fill_dora(t, dora)
    for seat in range(4):
        hands[seat] = _state_without(t, suits, seat, t.drawn if seat == t.actor else _NO_TILE, dora)
    count = 0
    while t.phase != codes.KYOKU_END:
        if t.phase == codes.OWN_TURN:
            undrawn[:] = 0  # by face the tiles that nobody has drawn or seen
            for position in range(t.next_draw, len(t.wall)):
                undrawn[face_of_id(t.wall[position], t.red_fives)] += is_undrawn(t, position)
            _fill_dora(t, dora)
            _fill_draw(t, suits, undrawn, dora, draws[count])
            count += 1
        action = recorded_action(t, moves, result, cursor)
        if not is_legal_move(t, action) or not follow(t, suits, moves, cursor, action):
            return count
    return count


@jit
def _fill_dora(t: Table, dora: I8) -> None:
    """Fill how many dora a tile of each face is."""
    for face in range(NUM_FACES):
        dora[face] = is_red(face)
        for i in range(t.num_dora):
            dora[face] += dora_kind(t.wall, i) == kind_of_face(face)


@jit
def _state(level: int, num_dora: int) -> int:
    return (level + 1) * _DORA_CLASSES + min(num_dora, _DORA_CLASSES - 1)


@jit
def _state_without(t: Table, suits: Suits, seat: int, face: int, dora: I8) -> int:
    """Return the state of a seat's concealed hand at the start of the deal without a tile of ``face``."""
    hand, num_dora = t.hand[seat].copy(), count_dora(t, seat, _NO_TILE) + count_red(t, seat, _NO_TILE)
    if face != _NO_TILE:
        hand[kind_of_face(face)] -= 1
        num_dora -= dora[face]
    return _state(shanten(suits, hand, 0), num_dora)


@jit
def _fill_draw(t: Table, suits: Suits, undrawn: I8, dora: I8, draw: U8) -> None:
    """Describe the draw that the actor has just made; ``undrawn`` are the tiles that are left after it."""
    hand, num_melds = t.hand[t.actor], t.num_melds[t.actor]
    num_dora = count_dora(t, t.actor, _NO_TILE) + count_red(t, t.actor, _NO_TILE)
    draw[DrawColumn.SEAT] = t.actor
    draw[DrawColumn.TILES_LEFT] = tiles_left(t)
    draw[DrawColumn.STATE] = _state(shanten(suits, hand, num_melds), num_dora)
    hand[kind_of_face(t.drawn)] -= 1
    num_dora -= dora[t.drawn]
    for face in range(NUM_FACES):
        count = undrawn[face] + (face == t.drawn)
        if count > 0:
            hand[kind_of_face(face)] += 1
            state = _state(shanten(suits, hand, num_melds), num_dora + dora[face])
            draw[DrawColumn.OUTCOMES + state] += count
            hand[kind_of_face(face)] -= 1
    hand[kind_of_face(t.drawn)] += 1
