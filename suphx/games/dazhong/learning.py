"""Dazhong as nets see it, decide in it and learn it: games/mahjong/hand_learning.py with its kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suphx.experience.observation import F32
from suphx.games.dazhong.engine import start, step
from suphx.games.dazhong.features import LAYOUT, choice_of_move, encode, fill_mask, forced_move, move_of_choice
from suphx.games.dazhong.names import CLAIM_KIND, DECISIONS, TURN_KIND
from suphx.games.dazhong.records import HandRecord, positions
from suphx.games.dazhong.table import ENDED, NUM_TILES, OWN_TURN, TABLE, Rules
from suphx.games.dazhong.tables import DazhongTables, ScriptedAgent
from suphx.games.mahjong.hand_learning import HandKernels, HandLearning
from suphx.games.mahjong.shanten import Suits
from suphx.games.mahjong.suit_exchange import KINDS, exchanged_choices
from suphx.kernel.jit import jit
from suphx.kernel.random_number import uniform_of
from suphx.kernel.record import I8, I64, U8, Records

WIN_WORTH = 12
"""What a win adds to the payments of a hand, in fan, as a reward: twice what a basic hand pays."""


@jit
def _kinds(tables: Records, indices: I64) -> I64:
    kinds = np.zeros(len(indices), np.int64)
    for i in range(len(indices)):
        kinds[i] = TURN_KIND if tables[indices[i]].phase == OWN_TURN else CLAIM_KIND
    return kinds


@jit
def _encode(tables: Records, suits: Suits, indices: I64, kind: int, rows: U8, masks: U8, uniforms: F32) -> None:
    for i in range(len(indices)):
        t = tables[indices[i]]
        encode(t, suits, rows[i])
        fill_mask(t, masks[i])
        uniforms[i] = uniform_of(t.seed, 1 + t.num_decisions, 0)


@jit
def _moves(tables: Records, indices: I64, choices: I64) -> I64:
    moves = np.zeros(len(indices), np.int64)
    for i in range(len(indices)):
        t = tables[indices[i]]
        moves[i] = forced_move(t) if choices[i] < 0 else move_of_choice(t, choices[i])
    return moves


@jit
def _play(tables: Records, suits: Suits, indices: I64, choices: I64) -> None:
    for i in range(len(indices)):
        t = tables[indices[i]]
        move = forced_move(t) if choices[i] < 0 else move_of_choice(t, choices[i])
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
            if (t.phase == OWN_TURN) == (kind == TURN_KIND) and forced_move(t) < 0:
                encode(t, suits, rows[n])
                fill_mask(t, masks[n])
                labels[n] = choice_of_move(t, move)
                n += 1
            step(t, suits, move)
    return n


class DazhongLearning(HandLearning):
    """How nets see Dazhong."""

    title = "Dazhong mahjong"
    decisions = DECISIONS
    layouts = (LAYOUT,)
    rules_version = "dazhong-1"
    table = TABLE
    tables = DazhongTables
    agent = ScriptedAgent
    rules = Rules
    kernels = HandKernels(kinds=_kinds, encode=_encode, moves=_moves, play=_play, encode_hands=_encode_hands)

    def undrawn(self, tables: Records) -> NDArray[np.bool_]:
        """Return which tiles nobody has drawn, bool [tables, 108]."""
        return np.arange(NUM_TILES) >= NUM_TILES - tables["wall_left"][:, None]

    def positions(self, record: HandRecord) -> Records:
        """Return the hand before each move, and after the last one; ValueError for an illegal move."""
        return positions(record)

    def points(self, ended: Records) -> F32:
        """Return the payments of hands, and ``WIN_WORTH`` for each win."""
        points: F32 = (ended["fan"] + WIN_WORTH * (ended["win_fan"] > 0)).astype(np.float32)
        return points


LEARNING = DazhongLearning(exchanged_choices(KINDS, KINDS, KINDS), exchanged_choices((0, len(DECISIONS[1].outputs))))
