"""How many hanchans shared walls and draw lanes save."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.shared_walls import HABITS, OrdinalWallSimulator, compare_schemes, load_measured_agent, measure_pair
from suphx.games.riichi.bots import is_yakuhai
from suphx.games.riichi.records.replay import Replayer
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import DEALT, PASS, PON, RIICHI, RON, TSUMO, TSUMOGIRI, shuffle_wall
from suphx.games.riichi.tables import ScriptedAgent
from suphx.games.riichi.tile import kind_of_face
from suphx.kernel.record import Records
from suphx.selfplay.rollouts.rollout import play_games

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


CHANGED: dict[str, Callable[[Records, NDArray[np.int16]], Found]] = {
    "ukeire-no-calls": is_called,
    "ukeire-careless": may_discard_drawn,
    "ukeire-blind": is_threatened,
    "ukeire-passive": is_threatened_move,
    "ukeire-pong": may_pong_honours,
    "ukeire-no-riichi": is_riichi,
}
"""By the variant: the decisions in which it may differ from ``ukeire``."""


@pytest.mark.parametrize("name", HABITS)
def test_a_variant_differs_from_ukeire_in_its_habit_only(positions: Records, name: str) -> None:
    everything = np.arange(len(positions))
    before = positions.copy()
    actions = np.asarray(load_measured_agent(name).act(positions, everything), np.int16)
    assert (positions == before).all(), "the tables themselves are unchanged"
    assert (positions["legal"][everything, actions] == 1).all()
    usual = ScriptedAgent("ukeire").act(positions, everything)
    habit = CHANGED[name](positions, usual)
    assert (actions[~habit] == usual[~habit]).all()
    assert (actions != usual).sum() > 10
    if name == "ukeire-pong":
        assert (actions[habit] == PON).all()
    elif name not in ("ukeire-careless", "ukeire-blind"):
        assert not CHANGED[name](positions, actions).any()


def test_the_saving_is_the_ratio_of_the_variances_over_walls() -> None:
    rng = np.random.default_rng(4)
    luck = rng.normal(size=(2_000, 3))
    found = compare_schemes(2.4 + 0.6 * luck[:, 0], 2.4 + 0.5 * luck[:, 1], 2.4 + 0.4 * luck[:, 2])
    for name, scheme in (("variance_before", 0.6), ("variance_of_walls", 0.5), ("variance", 0.4)):
        assert found[name] == pytest.approx(4 * scheme**2, rel=0.1)
    for name, ratio in (("fewer_hanchans", 2.25), ("fewer_by_walls", 1.44)):
        low, high = found[f"{name}_interval"]
        assert low < ratio < high
        assert high / low == pytest.approx((1 + 4 / 2_000**0.5) ** 2, rel=0.1), "about 9 % to both sides"
    low, high = found["difference_interval"]
    assert low < -0.1 < high


def test_a_pair_whose_walls_are_all_equal_has_no_ratio() -> None:
    equal, luck = np.full(50, 2.5), np.random.default_rng(0).normal(size=50)
    found = compare_schemes(luck, equal, equal)
    assert (found["variance"], found["fewer_hanchans"], found["fewer_hanchans_interval"]) == (0, None, None)


@pytest.mark.usefixtures("short_games")
def test_pairs_are_measured_with_three_kinds_of_walls() -> None:
    different = measure_pair("ukeire", "tsumogiri", num_hanchans=40, seed=0, workers=1)
    assert different["fewer_hanchans"] == pytest.approx(different["variance_before"] / different["variance"])
    assert different["variance_before"] == different["variance_of_walls"], "these games have one deal"


SEED = 11


def test_the_wall_of_a_deal_follows_from_the_number_of_deals_before_it() -> None:
    agents = [ScriptedAgent("ukeire"), ScriptedAgent("tsumogiri")]
    seating, options = 1 - np.eye(4, dtype=np.int64), {"simulator_type": OrdinalWallSimulator}
    games = list(play_games(agents, seating, [SEED] * 4, tenhou(), options=options))
    wall = np.empty(136, np.int16)
    replayer = Replayer()
    for log in games:
        assert replayer.replay(log) == []
        for number, kyoku in enumerate(log.kyokus):
            shuffle_wall(SEED, 0, number, wall)
            assert kyoku.wall[:DEALT].tolist() == wall[:DEALT].tolist()
    assert any(kyoku.honba for log in games for kyoku in log.kyokus), "a number that is not that of the kyoku"
