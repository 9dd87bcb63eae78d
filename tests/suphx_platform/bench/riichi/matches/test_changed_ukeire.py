"""Each variant of ``ukeire`` has its habit, and plays like ``ukeire`` otherwise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from suphx.games.riichi import Simulator, tenhou
from suphx.games.riichi.bots.scripted_play import is_yakuhai
from suphx.games.riichi.table.action import PASS, PON, RIICHI, RON, TSUMO, TSUMOGIRI
from suphx.games.riichi.table.tile import kind_of_face
from suphx.kernel.record import Records
from suphx.selfplay.agents.agent import ScriptedAgent
from suphx_platform.bench.riichi.matches.changed_ukeire import CHANGED, load_measured_agent

Found = NDArray[np.bool_]


@pytest.fixture(scope="module")
def positions() -> Records:
    """All decisions of twelve games of ``ukeire``."""
    simulator, agent = Simulator(12, tenhou()), ScriptedAgent("ukeire")
    simulator.reset(range(12))
    found = []
    while (waiting := simulator.waiting()).size:
        found.append(simulator.tables[waiting])
        simulator.advance(waiting, agent.act(simulator.tables, waiting))
    return np.concatenate(found)


def is_called(positions: Records, usual: NDArray[np.int16]) -> Found:
    result: Found = (usual >= PON) & (usual < PASS)
    return result


def is_riichi(positions: Records, usual: NDArray[np.int16]) -> Found:
    return np.asarray(usual == RIICHI, np.bool_)


def is_threatened(positions: Records, usual: NDArray[np.int16]) -> Found:
    declared = positions["riichi"] > 0
    declared[np.arange(len(positions)), positions["actor"]] = False
    return np.asarray(declared.any(axis=1), np.bool_)


def is_threatened_move(positions: Records, usual: NDArray[np.int16]) -> Found:
    return is_threatened(positions, usual) & (is_called(positions, usual) | is_riichi(positions, usual))


def may_pong_honours(positions: Records, usual: NDArray[np.int16]) -> Found:
    may = (positions["legal"][:, PON] > 0) & (positions["legal"][:, RON] == 0)
    return np.array([
        bool(able) and is_yakuhai(table, int(table["actor"]), kind_of_face(int(table["claimed_face"])))
        for able, table in zip(may, positions, strict=True)
    ])  # fmt: skip


def may_discard_drawn(positions: Records, usual: NDArray[np.int16]) -> Found:
    result: Found = (positions["legal"][:, TSUMOGIRI] > 0) & (positions["legal"][:, TSUMO] == 0)
    return result


HABITS: dict[str, Callable[[Records, NDArray[np.int16]], Found]] = {
    "ukeire-no-calls": is_called,
    "ukeire-careless": may_discard_drawn,
    "ukeire-blind": is_threatened,
    "ukeire-passive": is_threatened_move,
    "ukeire-pong": may_pong_honours,
    "ukeire-no-riichi": is_riichi,
}
"""By the variant: the decisions in which it may differ from ``ukeire``."""


def test_every_variant_is_tested() -> None:
    assert HABITS.keys() == CHANGED.keys()


@pytest.mark.parametrize("name", HABITS)
def test_a_variant_differs_from_ukeire_in_its_habit_only(positions: Records, name: str) -> None:
    everything = np.arange(len(positions))
    before = positions.copy()
    actions = load_measured_agent(name).act(positions, everything)
    assert (positions == before).all(), "the tables themselves are unchanged"
    assert (positions["legal"][everything, actions] == 1).all()
    usual = ScriptedAgent("ukeire").act(positions, everything)
    habit = HABITS[name](positions, usual)
    assert (actions[~habit] == usual[~habit]).all()
    assert (actions != usual).sum() > 10


def test_habits_that_forbid_or_demand_are_never_broken(positions: Records) -> None:
    everything = np.arange(len(positions))
    usual = ScriptedAgent("ukeire").act(positions, everything)
    actions = {name: load_measured_agent(name).act(positions, everything) for name in CHANGED}
    assert not is_called(positions, actions["ukeire-no-calls"]).any()
    assert not is_riichi(positions, actions["ukeire-no-riichi"]).any()
    assert not is_threatened_move(positions, actions["ukeire-passive"]).any()
    assert (actions["ukeire-pong"][may_pong_honours(positions, usual)] == PON).all()
    able = may_discard_drawn(positions, usual)
    careless = (actions["ukeire-careless"] != usual)[able & (usual != TSUMOGIRI)]
    assert careless.mean() == pytest.approx(1 / 8, abs=0.02)


def test_other_agents_are_loaded_as_everywhere() -> None:
    assert load_measured_agent("ukeire").name == "ukeire"
    with pytest.raises(ValueError, match="'ukeire-lazy' is no agent"):
        load_measured_agent("ukeire-lazy")
