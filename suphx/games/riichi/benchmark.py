"""Positions of recorded games, and which of them ask a net: what benchmarks measure with."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.features.samples import has_choice, list_claims
from suphx.games.riichi.names import CHOW_HEAD, DISCARD_HEAD, KONG_HEAD, PONG_HEAD
from suphx.games.riichi.records.decisions import KyokuWalk
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.selfplay.decision import UNDECIDED, asked_rows
from suphx.games.riichi.table import (
    CLAIM,
    ROB_KAN,
    TABLE,
    Table,
)
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
    for game in games:
        for index in range(len(game.kyokus)):
            walk = KyokuWalk(game, index)
            for _ in walk:
                if _is_observed(walk.tables[0]):
                    yield walk.table.copy()


def observed_candidates(tables: Records) -> dict[int, tuple[I64, I64]]:
    """Return by head the table and the candidate of every row that describes these decisions.

    An own turn is one row for discard and riichi, whose planes are the same, and one for each possible kan; a claim
    window is one row for each possible claim.
    """
    indices, undecided = np.arange(len(tables)), np.full(len(tables), UNDECIDED, np.int16)
    heads = (DISCARD_HEAD, CHOW_HEAD, PONG_HEAD, KONG_HEAD)
    return {head: asked_rows(tables, indices, undecided, head) for head in heads}


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
