from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from suphx.games.riichi.engine.simulator import Simulator
from suphx.games.riichi.table.rules import tenhou
from suphx.kernel.record import I16, I64, Records
from suphx.selfplay.agents.agent import Agent, ScriptedAgent
from suphx.selfplay.rollouts.branch_play import play_branches
from suphx.selfplay.rollouts.rollout import play_games
from suphx.training.adaptation.adaptation_config import AdaptationConfig
from suphx.training.adaptation.adapter import Adapted, Adapter, AdaptiveAgent, MoveConfig
from tests.selfplay.agents.small_agent import small_agent

CONFIG = AdaptationConfig(num_rollouts=4, rollouts_per_deal=2, learning_rate=1e-2, num_epochs=1)


class CountingAdapter(Adapter):
    """Writes down for which kyoku and seats it was asked."""

    def adapt(self, tables: Records, seats: I64, seeds: I64, nets: object = ()) -> Adapted:
        self.asked = getattr(self, "asked", [])
        self.asked += [(int(t["num_kyoku"]), int(seat), bool(nets)) for t, seat in zip(tables, seats, strict=True)]
        return super().adapt(tables, seats, seeds, nets)  # type: ignore[arg-type]


def test_it_needs_the_same_table_for_a_kyoku() -> None:
    adaptive = AdaptiveAgent("adapted", Adapter(small_agent(), CONFIG))
    with pytest.raises(ValueError, match="adapted follows whole games"):
        next(play_branches(adaptive, ScriptedAgent("random"), [1], tenhou()))


def play_kyokus(agent: Agent, num_steps: int) -> tuple[Records, list[I16]]:
    simulator = Simulator(2, tenhou())
    simulator.reset([1, 2])
    actions = []
    for _ in range(num_steps):
        waiting = simulator.waiting()
        actions.append(agent.act(simulator.tables, waiting))
        simulator.advance(waiting, actions[-1])
    return simulator.tables, actions


def test_a_seat_adapts_once_in_a_kyoku() -> None:
    adapter = CountingAdapter(small_agent(), CONFIG)
    tables, _ = play_kyokus(AdaptiveAgent("adapted", adapter), 200)
    assert tables["num_kyoku"].min() > 1
    first_kyoku = [seat for number, seat, _ in adapter.asked if number == 1]
    assert max(first_kyoku.count(seat) for seat in range(4)) <= 2  # two tables
    assert len(first_kyoku) >= 6  # a deal may end before a seat discards


def test_nets_of_former_kyokus_are_not_kept() -> None:
    agent = AdaptiveAgent("adapted", Adapter(small_agent(), CONFIG))
    tables, _ = play_kyokus(agent, 200)
    assert tables["num_kyoku"].min() > 1
    for (line, _), fitted in agent._fitted.items():
        others = [other for (at, _), other in agent._fitted.items() if at == line]
        assert {(other.wall_seed, other.num_kyoku) for other in others} == {(fitted.wall_seed, fitted.num_kyoku)}


def test_the_games_of_an_agent_follow_from_their_seeds() -> None:
    first, second = (play_kyokus(AdaptiveAgent("adapted", Adapter(small_agent(), CONFIG)), 60)[1] for _ in range(2))
    base = play_kyokus(small_agent(), 60)[1]
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert any(not np.array_equal(a, b) for a, b in zip(first, base, strict=True))


def test_it_plays_matches_as_any_agent() -> None:
    agents: list[Agent] = [AdaptiveAgent("adapted", Adapter(small_agent(), CONFIG)), small_agent()]
    logs = list(play_games(agents, np.array([[0, 1, 1, 1], [1, 1, 0, 1]]), [4, 4], tenhou()))
    assert [log.names.index("adapted") for log in logs] == [0, 2]
    assert all(log.final_scores is not None for log in logs)


def test_with_time_for_each_move_it_goes_on_adapting() -> None:
    adapter = CountingAdapter(small_agent(), CONFIG)
    adapter.with_rollouts = lambda num_rollouts: adapter  # type: ignore[method-assign]
    play_kyokus(AdaptiveAgent("adapted", adapter, MoveConfig(seconds=0.05, num_rollouts=4)), 24)
    assert any(goes_on for _, _, goes_on in adapter.asked)  # how often is a matter of the clock


@pytest.mark.parametrize(
    ("settings", "message"), [({"seconds": -1}, "seconds is -1"), ({"num_rollouts": 0}, "num_rollouts is 0")]
)
def test_move_configs_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MoveConfig(**settings)


def test_rollouts_are_a_multiple_of_those_of_a_deal() -> None:
    with pytest.raises(ValueError, match="multiple of rollouts_per_deal"):
        AdaptiveAgent("adapted", Adapter(small_agent(), CONFIG), MoveConfig(seconds=1, num_rollouts=3))
