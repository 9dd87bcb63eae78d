"""Habits that make another agent of ``ukeire``: agents of similar strength that differ in one part of the game.

They exist for measuring matches (docs/evaluation.md). A habit changes what ``ukeire`` sees of a table, or overrules
its action.

>>> actions = ukeire.act(HABITS["no-calls"].seen(tables[indices]), np.arange(len(indices)))
>>> HABITS["no-calls"].overrule(tables[indices], actions)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suphx.games.riichi.bots.scripted_play import is_yakuhai
from suphx.games.riichi.table.action import PASS, PON, RIICHI, RON, TSUMO, TSUMOGIRI
from suphx.games.riichi.table.tile import kind_of_face
from suphx.kernel.random_number import mix
from suphx.kernel.record import I16, Records

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
