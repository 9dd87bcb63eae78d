"""The learner's calls in an order that real processes rarely produce: the test answers each call when it wants."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from suphx.selfplay.layout import RoundLayoutConfig
from suphx.training.trainer import PartAwayError
from suphx_platform.on_ray.monte_carlo import round_learner_driver
from suphx_platform.on_ray.monte_carlo.round_learner_driver import RoundLearnerDriver
from suphx_platform.on_ray.supervision.actor_supervisor import ActorSupervisor
from tests.suphx_platform.on_ray.kept_calls import Actor, stop_when


def test_a_learner_whose_rounds_were_lost_is_not_asked_for_newer_weights_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("suphx_platform.on_ray.monte_carlo.round_learner_driver.ray.put", lambda value: value)
    monkeypatch.setattr(round_learner_driver, "state_of", lambda _: "state")
    layout, actor = RoundLayoutConfig(weight_sync_rounds=1), Actor()
    supervisor = ActorSupervisor(layout, {"learner": actor})
    first: Any = SimpleNamespace(num_rounds=16, weights=lambda: "start")
    driver = RoundLearnerDriver(layout, actor, supervisor, cast(Any, None), first, max_rounds=100)

    def answer(method: str, result: object) -> None:
        call = next(call for call in actor.calls if call.method == method)
        actor.calls.remove(call)
        call.reference.answer.set_result(result)
        supervisor.calls.wait(1)

    answer("begin", "state")
    driver._learner.num_learned = 20  # it learned four more rounds, which were lost with its machine
    driver._publish_if_due()
    answer("weights", (16, "older"))
    assert "weights" not in actor.methods
    assert not driver.is_busy
    assert driver.newest.number == 16

    driver._learner.num_learned = 21
    driver._publish_if_due()
    answer("weights", (21, "newer"))
    assert (driver.newest.number, driver.newest.weights) == (21, ["newer"])

    driver.check_stop()
    stop_when(supervisor, lambda: True)
    driver.check_stop()
    driver._learner.begin()
    with pytest.raises(PartAwayError, match="learner is away"):
        driver.check_stop()
