"""MCR as nets see it, decide in it and learn it: games/mahjong/hand_learning.py with the kernels of this game.

In one's own turn with a possible kong the claim net is asked first; if it declares none, the discard net follows. A
recorded turn gives samples of both. The reward is the score of a game.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suphx.experience.observation import F32
from suphx.games.mahjong.hand_learning import HandKernels, HandLearning
from suphx.games.mahjong.shanten import Suits
from suphx.games.mahjong.suit_exchange import KINDS, exchanged_choices
from suphx.games.mcr.engine import start, step
from suphx.games.mcr.features import (
    LAYOUTS,
    choice_of_move,
    encode,
    fill_mask,
    forced_move,
    kind_of,
    move_of_choice,
)
from suphx.games.mcr.names import DECISIONS
from suphx.games.mcr.record import GameRecord, positions
from suphx.games.mcr.table import ENDED, KONG, NUM_TILES, OWN_TURN, TABLE, WALL_TILES, Rules, Table
from suphx.games.mcr.tables import McrTables, ScriptedAgent
from suphx.kernel.jit import jit
from suphx.kernel.random_number import uniform_of
from suphx.kernel.record import I8, I64, U8, Records


@jit
def _kinds(tables: Records, indices: I64) -> I64:
    kinds = np.zeros(len(indices), np.int64)
    for i in range(len(indices)):
        kinds[i] = kind_of(tables[indices[i]])
    return kinds


@jit
def _encode(tables: Records, suits: Suits, indices: I64, kind: int, rows: U8, masks: U8, uniforms: F32) -> None:
    for i in range(len(indices)):
        t = tables[indices[i]]
        encode(t, suits, rows[i])
        fill_mask(t, kind, masks[i])
        uniforms[i] = uniform_of(t.seed, 1 + t.num_decisions, kind)


@jit
def _move_of(t: Table, choice: int) -> int:
    """Return the move of a choice, of -1 that which needs no net; -1: a net is asked, perhaps after no kong."""
    if choice < 0:
        return forced_move(t)
    move = move_of_choice(t, kind_of(t), choice)
    if move < 0:
        t.kong_declined = 1
    return move


@jit
def _moves(tables: Records, indices: I64, choices: I64) -> I64:
    moves = np.zeros(len(indices), np.int64)
    for i in range(len(indices)):
        moves[i] = _move_of(tables[indices[i]], choices[i])
    return moves


@jit
def _play(tables: Records, suits: Suits, indices: I64, choices: I64) -> None:
    for i in range(len(indices)):
        t = tables[indices[i]]
        move = _move_of(t, choices[i])
        while move >= 0 and t.phase != ENDED:
            step(t, suits, move)
            move = forced_move(t)


@jit
def _encode_hands(tables: Records, suits: Suits, kind: int, rows: U8, masks: U8, labels: I8) -> int:
    n = 0
    for i in range(len(tables)):
        t = tables[i]
        num_moves = t.num_decisions
        start(t, suits)
        for number in range(num_moves):
            move = int(t.moves[number])
            if forced_move(t) < 0:
                t.kong_declined = t.phase == OWN_TURN and move < KONG and kind_of(t) != kind
                if kind_of(t) == kind:
                    encode(t, suits, rows[n])
                    fill_mask(t, kind, masks[n])
                    labels[n] = choice_of_move(t, kind, move)
                    n += 1
            step(t, suits, move)
    return n


class McrLearning(HandLearning):
    """How nets see MCR."""

    title = "Chinese Official mahjong"
    decisions = DECISIONS
    layouts = LAYOUTS
    rules_version = "mcr-1"
    table = TABLE
    tables = McrTables
    agent = ScriptedAgent
    rules = Rules
    kernels = HandKernels(kinds=_kinds, encode=_encode, moves=_moves, play=_play, encode_hands=_encode_hands)

    def undrawn(self, tables: Records) -> NDArray[np.bool_]:
        """Return which tiles nobody has drawn, bool [tables, 136]."""
        return np.arange(NUM_TILES) % WALL_TILES < np.repeat(tables["wall_left"], WALL_TILES, axis=1)

    def positions(self, record: GameRecord) -> Records:
        """Return the game before each move, and after the last one.

        ValueError for an illegal move, and for a game that only one seat saw: the tiles of the others are made up.
        """
        if record.seen_by is not None:
            raise ValueError(f"only seat {record.seen_by} saw this game, and nets learn from all four")
        return positions(record)

    def points(self, ended: Records) -> F32:
        """Return the scores of games."""
        points: F32 = ended["score"].astype(np.float32)
        return points


LEARNING = McrLearning(exchanged_choices(KINDS), exchanged_choices((0, 1), (7, 0), KINDS, KINDS))
