"""What ``RayBackend.settle`` waits for once the run is to stop: parts that never answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from suphx.selfplay.layout import RayLayoutConfig
from suphx.training.trainer import PartAwayError
from suphx_platform.on_ray.actor.ray_actor import Health
from suphx_platform.on_ray.ray_backend import RayBackend
from suphx_platform.on_ray.supervision.actor_supervisor import ActorSupervisor
from tests.suphx_platform.on_ray.kept_calls import Actor, stop_when, stop_when_told


class _Backend(RayBackend):
    """A backend whose simulator plays, and whose learner has nothing to do."""

    def __init__(self, supervisor: ActorSupervisor, *, is_lockstep: bool) -> None:
        nothing: Any = SimpleNamespace(work=lambda **_: None, check_stop=lambda: None, is_busy=False, is_empty=True)
        nothing.num_pending = 0
        self._learner_driver = self._simulators = nothing
        self._supervisor, self._is_lockstep = supervisor, is_lockstep


def new_supervisor() -> tuple[ActorSupervisor, Actor]:
    simulator = Actor()
    supervisor = ActorSupervisor(RayLayoutConfig(), {"simulator 0": simulator, "buffer 0": Actor()})
    report, _ = simulator.play.remote()
    supervisor.call("simulator 0", report, lambda _: None, lambda _: None)
    return supervisor, simulator


def test_a_stop_in_lockstep_does_not_wait_for_a_simulator_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    supervisor, _ = new_supervisor()
    told = stop_when_told(monkeypatch, supervisor)
    with pytest.raises(PartAwayError, match="simulator 0 is away"):
        _Backend(supervisor, is_lockstep=True).settle()
    assert told[0].startswith("waiting for buffer 0, simulator 0: ")


def test_a_stop_in_lockstep_waits_for_a_simulator_that_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    supervisor, simulator = new_supervisor()
    told = stop_when_told(monkeypatch, supervisor)
    told.append("the stop is made")
    supervisor.health["simulator 0"] = Health(1, "here", 0, "first")
    backend = _Backend(supervisor, is_lockstep=True)
    backend._check_stop()
    simulator.calls[0].reference.answer.set_result(None)
    assert backend.settle() == []


def test_a_stop_at_free_pace_waits_for_no_simulator() -> None:
    supervisor, _ = new_supervisor()
    stop_when(supervisor, lambda: True)
    assert _Backend(supervisor, is_lockstep=False).settle() == []
