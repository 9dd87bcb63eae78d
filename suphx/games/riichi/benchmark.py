"""What benchmarks measure with: positions of recorded games, agents with changed habits, walls as they were once.

Habits make another agent of ``ukeire``: agents of similar strength that differ in one part of the game. They exist for
measuring matches (docs/evaluation.md). A habit changes what ``ukeire`` sees of a table, or overrules its action.

>>> actions = ukeire.act(HABITS["no-calls"].seen(tables[indices]), np.arange(len(indices)))
>>> HABITS["no-calls"].overrule(tables[indices], actions)

``OrdinalWallSimulator`` has walls as matches had them before they followed from kyoku and honba: by the number of deals
played so far. Only measurements of what shared walls save use them (docs/evaluation.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suphx.games.mahjong.shanten import load_suits
from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.bots import is_yakuhai
from suphx.games.riichi.ending import end_kyoku
from suphx.games.riichi.features.samples import has_choice, list_claims
from suphx.games.riichi.kyoku import start_kyoku
from suphx.games.riichi.names import CHOW_HEAD, DISCARD_HEAD, KONG_HEAD, PONG_HEAD
from suphx.games.riichi.records.decisions import KyokuWalk
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.selfplay.decision import UNDECIDED, asked_rows
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import (
    CLAIM,
    GAME_END,
    KYOKU_END,
    PASS,
    PON,
    RIICHI,
    ROB_KAN,
    RON,
    TABLE,
    TSUMO,
    TSUMOGIRI,
    Table,
    shuffle_wall,
)
from suphx.games.riichi.tile import kind_of_face
from suphx.kernel.jit import jit
from suphx.kernel.random_number import mix
from suphx.kernel.record import I16, I64, Records

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


_CARELESS_TURNS = 8
_MASK32 = 0xFFFFFFFF
_STEP = 0x9E3779B9


def _change_nothing(tables: Records) -> None:
    pass


def _overrule_nothing(tables: Records, actions: I16) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Habit:
    """What an agent does differently from ``ukeire``."""

    about: str
    change: Callable[[Records], None] = _change_nothing
    """Changes copies of waiting tables to what the agent makes of them."""
    overrule: Callable[[Records, I16], None] = _overrule_nothing
    """Changes the actions, int16 [n], at the tables."""

    def seen(self, tables: Records) -> Records:
        """Return ``tables`` [n], which must be a copy, as the agent sees them."""
        self.change(tables)
        tables["num_legal"] = tables["legal"].sum(axis=1)
        return tables


def _others_in_riichi(tables: Records) -> NDArray[np.bool_]:
    """Return whether another seat than the actor has declared riichi: bool [n]."""
    declared = tables["riichi"] > 0
    declared[np.arange(len(tables)), tables["actor"]] = False
    return np.asarray(declared.any(axis=1), np.bool_)


def _hide_calls(tables: Records) -> None:
    tables["legal"][:, PON:PASS] = 0


def _hide_riichi(tables: Records) -> None:
    tables["legal"][:, RIICHI] = 0


def _hide_others_riichi(tables: Records) -> None:
    lines, actors = np.arange(len(tables)), tables["actor"]
    own = tables["riichi"][lines, actors]
    tables["riichi"] = 0
    tables["riichi"][lines, actors] = own


def _wait_under_riichi(tables: Records) -> None:
    threatened = _others_in_riichi(tables)
    tables["legal"][threatened, PON:PASS] = 0
    tables["legal"][threatened, RIICHI] = 0


def _call_yakuhai(tables: Records, actions: I16) -> None:
    legal = tables["legal"]
    for line in np.flatnonzero(legal[:, PON] & ~legal[:, RON].astype(np.bool_)).tolist():
        table = tables[line]
        if is_yakuhai(table, int(table["actor"]), kind_of_face(int(table["claimed_face"]))):
            actions[line] = PON


def _discard_drawn(tables: Records, actions: I16) -> None:
    """Discard the drawn tile now and then; when, follows from the table alone."""
    legal = tables["legal"].astype(np.bool_)
    for line in np.flatnonzero(legal[:, TSUMOGIRI] & ~legal[:, TSUMO]).tolist():
        table = tables[line]
        deal = mix((int(table["wall_seed"]) ^ int(table["num_kyoku"]) * _STEP) & _MASK32)
        if mix((deal + int(table["num_decisions"])) & _MASK32) % _CARELESS_TURNS == 0:
            actions[line] = TSUMOGIRI


HABITS = {
    "no-calls": Habit("calls nothing", _hide_calls),
    "careless": Habit("discards the drawn tile in an eighth of its turns", overrule=_discard_drawn),
    "blind": Habit("does not see that another player has declared riichi", _hide_others_riichi),
    "passive": Habit("neither calls nor declares riichi after another player's riichi", _wait_under_riichi),
    "pong": Habit("calls every pong of dragons and of its winds", overrule=_call_yakuhai),
    "no-riichi": Habit("never declares riichi", _hide_riichi),
}
"""By the word behind ``ukeire-``."""


class OrdinalWallSimulator(Simulator):
    """A simulator in which the wall of a deal follows from the seed and the number of deals before it.

    Games of one seed share no hand any more once they have differed in who stays dealer. It must stop at the end of a
    kyoku, as in ``play_stream``.
    """

    def next_kyoku(self, indices: ArrayLike) -> None:
        """Go on from the end of a deal to the next one or to the end of the game."""
        suits = load_suits()
        for index in np.asarray(indices).tolist():
            table = self.tables[index]
            if table["phase"] != KYOKU_END:
                continue
            end_kyoku(table)
            if table["phase"] != GAME_END:
                # The first deal of a game, East 1 and honba 0, has the number 0 in both schemes.
                shuffle_wall(int(table["wall_seed"]), 0, int(table["num_kyoku"]), table["wall"])
                table["num_kyoku"] += 1
                start_kyoku(table, suits)
