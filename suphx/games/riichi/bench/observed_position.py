"""Positions to measure with: which decisions of recorded games a net is asked about, and about what."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from suphx.games.riichi.engine.kyoku import start_kyoku
from suphx.games.riichi.features.head import CHOW_HEAD, DISCARD_HEAD, KONG_HEAD, PONG_HEAD
from suphx.games.riichi.features.samples import has_choice, list_claims, list_own_kans
from suphx.games.riichi.hand.suit_table import load_suits
from suphx.games.riichi.records.archive.archive import Quarantine, iter_records
from suphx.games.riichi.records.log.gamelog import GameLog
from suphx.games.riichi.records.log.replay import follow, recorded_action
from suphx.games.riichi.table.action import PASS
from suphx.games.riichi.table.rules import apply_rules
from suphx.games.riichi.table.table import CLAIM, KYOKU_END, OWN_TURN, ROB_KAN, TABLE, Table
from suphx.kernel.jit import jit
from suphx.kernel.record import I64, Records

_MAX_CANDIDATES = 40


def recorded_positions(records: Path, num_positions: int) -> Records:
    """Return TABLE records of the first decisions of the games in ``records``; ValueError if there are none."""
    quarantine = Quarantine()
    found = islice(_positions_of(iter_records([records], quarantine=quarantine)), num_positions)
    tables = np.array(list(found), TABLE)
    if not tables.size:
        raise ValueError(f"{records} has no decision for a net: name a folder of game records")
    return tables


def _positions_of(games: Iterator[GameLog]) -> Iterator[np.void]:
    tables, suits, cursor = np.zeros(1, TABLE), load_suits(), np.zeros(4, np.int64)
    table: Any = tables[0]
    for game in games:
        apply_rules(tables, game.rules)
        for log in game.kyokus:
            table["scores"], table["wall"] = log.scores, log.wall
            table["kyoku"], table["honba"], table["kyotaku"] = log.kyoku, log.honba, log.kyotaku
            cursor[:] = 0
            start_kyoku(table, suits)
            while table["phase"] != KYOKU_END:
                if _is_observed(table):
                    yield table.copy()
                action = recorded_action(table, log.moves, int(log.result["result"]), cursor)
                if not 0 <= action <= PASS or not table["legal"][action]:
                    raise ValueError(
                        f"the record {game.id} contradicts the rules: run suphx records verify on it for details"
                    )
                follow(table, suits, log.moves, cursor, action)


def observed_candidates(tables: Records) -> dict[int, tuple[I64, I64]]:
    """Return by head the table and the candidate of every row that describes these decisions.

    An own turn is one row for discard and riichi, whose planes are the same, and one for each possible kan; a claim
    window is one row for each possible claim.
    """
    asked = {}
    for head in (DISCARD_HEAD, CHOW_HEAD, PONG_HEAD, KONG_HEAD):
        indices = np.zeros(_MAX_CANDIDATES * len(tables), np.int64)
        candidates = np.zeros_like(indices)
        number = _list_rows(tables, head, indices, candidates)
        asked[head] = indices[:number].copy(), candidates[:number].copy()
    return asked


@jit
def _list_rows(tables: Records, head: int, indices: I64, candidates: I64) -> int:
    own = np.zeros(_MAX_CANDIDATES, np.int64)
    n = 0
    for i in range(len(tables)):
        for c in range(_candidates(tables[i], head, own)):
            indices[n] = i
            candidates[n] = own[c]
            n += 1
    return n


@jit
def _candidates(t: Table, head: int, own: I64) -> int:
    if t.phase == CLAIM:
        return list_claims(t, head, own)
    own[0] = -1
    if head == DISCARD_HEAD:
        return 1
    return list_own_kans(t, own) if head == KONG_HEAD and t.phase == OWN_TURN else 0


@jit
def _is_observed(t: Table) -> bool:
    """Tell whether any net is asked: about a claim, or about more than one discard."""
    own = np.zeros(_MAX_CANDIDATES, np.int64)
    if t.phase == CLAIM:
        return list_claims(t, CHOW_HEAD, own) + list_claims(t, PONG_HEAD, own) + list_claims(t, KONG_HEAD, own) > 0
    return t.phase != ROB_KAN and has_choice(t)


@jit
def _fill_observed(tables: Records, indices: I64, asked: I64) -> None:
    for i in range(len(indices)):
        asked[i] = _is_observed(tables[indices[i]])


def observed_tables(tables: Records, indices: I64) -> I64:
    """Return 1 for each of the tables ``indices`` at which a net is asked, else 0, int64 [n]."""
    asked = np.zeros(len(indices), np.int64)
    _fill_observed(tables, indices, asked)
    return asked
