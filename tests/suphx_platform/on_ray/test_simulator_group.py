"""What simulators and buffers count when a run goes on, with actors that answer at once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from ray.exceptions import ActorUnavailableError, ObjectReconstructionFailedError

from suphx.training.loop.training_watch import PartAwayError
from suphx_platform.backend.backend import BackendState, Fault
from suphx_platform.on_ray.simulator_group import SimulatorGroup
from suphx_platform.on_ray.supervision.actor_supervisor import ActorSupervisor
from suphx_platform.on_ray.topology import Topology
from suphx_platform.parts.parameter_server import PolicyVersion
from suphx_platform.parts.ray_layout_config import RayLayoutConfig
from suphx_platform.parts.reinforcement_config import ReinforcementConfig
from suphx_platform.parts.replay_buffer import BufferCounts, BufferStatus
from tests.suphx_platform.on_ray.kept_calls import Actor, Reference, stop_when_told

EMPTY = BufferStatus(False, 0, 0, BufferCounts())


class RestoredShard(Actor):
    """A shard that says how it is after it has begun."""

    def __init__(self, counts: BufferCounts) -> None:
        super().__init__()
        self._status = BufferStatus(False, 0, 0, counts)
        self.begin = SimpleNamespace(remote=self._begin)

    def _begin(self, *_: Any) -> Reference:
        return answered(self._status)


class DyingShard(RestoredShard):
    """Dies the first time that it is asked for its state."""

    def __init__(self, counts: BufferCounts) -> None:
        super().__init__(counts)
        self.num_begun = 0
        self.state = SimpleNamespace(remote=self._state)

    def _begin(self, *arguments: Any) -> Reference:
        self.num_begun += 1
        return super()._begin(*arguments)

    def _state(self) -> Reference:
        return answered(ActorUnavailableError("gone", None) if self.num_begun == 1 else "its state")


class RestartingSimulator(Actor):
    """Fails at once whatever Ray does not repeat until it has started."""

    def __init__(self) -> None:
        super().__init__()
        lost = answered(ActorUnavailableError("it is restarting", None))
        self.state = SimpleNamespace(remote=lambda: lost)


def new_group(shard: Actor, simulator: Actor) -> tuple[SimulatorGroup, ActorSupervisor]:
    config = ReinforcementConfig(cluster=RayLayoutConfig(on_ray=True))
    topology: Any = SimpleNamespace(buffers=[shard], simulators=[simulator])
    supervisor = ActorSupervisor(config.cluster, {"buffer 0": shard, "simulator 0": simulator})
    return SimulatorGroup(config, cast(Topology, topology), supervisor), supervisor


def new_state(counts: BufferCounts) -> BackendState:
    return BackendState(
        learner=({}, {}),
        latest=PolicyVersion(0, {}),
        older=[],
        counts=counts,
        next_simulator=1,
        simulators=[{}],
        buffers=[({}, {})],
        held=[[]],
    )


def test_what_went_through_dead_shards_is_counted_after_a_resume_too() -> None:
    group, _ = new_group(RestoredShard(BufferCounts(added=300, learned=200)), Actor())
    counts = BufferCounts(added=1000, learned=800, lost=50)  # of the shard, and of those that died before it
    group.begin(new_state(counts))
    assert group.counts == counts


def test_who_waits_for_a_shard_without_a_node_is_told_so_and_may_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    group, supervisor = new_group(Actor(), Actor())
    told = stop_when_told(monkeypatch, supervisor)
    with pytest.raises(PartAwayError, match="buffer 0 is away"):
        group.begin(new_state(BufferCounts()))
    assert told[0].startswith("waiting for buffer 0, simulator 0: ")


def test_a_simulator_whose_state_is_lost_is_told_once_to_begin_and_a_stop_does_not_wait_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    simulator = RestartingSimulator()
    group, supervisor = new_group(Actor(), simulator)
    group.begin(None)
    simulator.calls.pop().reference.answer.set_result(None)
    supervisor.calls.wait(1)
    told = stop_when_told(monkeypatch, supervisor)
    with pytest.raises(PartAwayError, match="simulator 0 is away"):
        group.add_state(new_state(BufferCounts()))
    assert told
    assert simulator.methods.count("begin") == 1


def test_a_shard_without_a_node_is_told_to_begin_once_and_gets_decisions_when_it_has_begun() -> None:
    shard = Actor()
    group, supervisor = new_group(shard, Actor())
    (handle,) = group._handles
    handle.pending.append("decisions")
    group.begin(None)
    group.work(may_play=False)
    assert shard.methods == ["begin"]
    answer(group, supervisor, shard, "begin", BufferStatus(True, 60, 1000, BufferCounts(added=300, learned=240)))
    assert shard.methods == ["add"]
    answer(group, supervisor, shard, "add", ActorUnavailableError("its node is gone", None))
    for _ in range(3):
        group.work(may_play=False)
    assert shard.methods == ["begin"]
    assert group.counts == BufferCounts(added=300, learned=240, lost=60)
    answer(group, supervisor, shard, "begin", EMPTY)
    assert shard.methods == ["add"]
    assert fault_names(supervisor) == ["buffer_died"]


def test_decisions_that_are_lost_with_their_node_are_dropped_and_the_shard_stays() -> None:
    shard = Actor()
    group, supervisor = new_group(shard, Actor())
    (handle,) = group._handles
    handle.pending.append("decisions")
    group.begin(None)
    answer(group, supervisor, shard, "begin", EMPTY)
    answer(group, supervisor, shard, "add", ObjectReconstructionFailedError("4f64a7"))
    assert group.num_pending == 0
    assert shard.methods == []
    assert fault_names(supervisor) == ["simulator_failed"]


def test_decisions_that_a_full_shard_did_not_take_are_in_the_state_and_are_offered_after_a_resume(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("suphx_platform.on_ray.simulator_group.ray.put", answered)
    shard: Any = RestoredShard(BufferCounts())
    simulator: Any = Actor()
    group, supervisor = new_group(shard, simulator)
    held: Any = ["decisions"]
    state = new_state(BufferCounts())
    state.held = [held]
    group.begin(state)
    simulator.calls.pop().reference.answer.set_result(None)
    supervisor.calls.wait(1)
    group.work(may_play=False)
    assert group.num_pending == 1
    assert "add" not in shard.methods, "the shard was full"
    simulator.state = shard.state = SimpleNamespace(remote=lambda: answered({}))
    saved = new_state(BufferCounts())
    group.add_state(saved)
    assert saved.held == [held]
    group.note_status(group.shards[0], EMPTY, has_given=True)
    group.work(may_play=False)
    assert "add" in shard.methods


def test_a_shard_that_dies_while_it_is_saved_is_asked_again_when_it_has_begun() -> None:
    shard = DyingShard(BufferCounts())
    simulator: Any = Actor()
    group, supervisor = new_group(shard, simulator)
    group.begin(None)
    simulator.calls.pop().reference.answer.set_result(None)
    supervisor.calls.wait(1)
    simulator.state = SimpleNamespace(remote=lambda: answered({}))
    state = new_state(BufferCounts())
    group.add_state(state)
    buffers: list[Any] = state.buffers
    assert buffers == ["its state"]
    assert shard.num_begun == 2
    assert fault_names(supervisor) == ["buffer_died"]


def answer(group: SimulatorGroup, supervisor: ActorSupervisor, shard: Actor, method: str, result: Any) -> None:
    """Answer the oldest call of ``method``, and let the group work."""
    give(shard.calls.pop(shard.methods.index(method)).reference, result)
    supervisor.calls.wait(1)
    group.work(may_play=False)


def answered(result: Any) -> Reference:
    """Return a reference that has its answer, or its error."""
    reference = Reference()
    give(reference, result)
    return reference


def give(reference: Reference, result: Any) -> None:
    if isinstance(result, Exception):
        reference.answer.set_exception(result)
    else:
        reference.answer.set_result(result)


def fault_names(supervisor: ActorSupervisor) -> list[str]:
    return [event.name for event in supervisor.events() if isinstance(event, Fault)]
