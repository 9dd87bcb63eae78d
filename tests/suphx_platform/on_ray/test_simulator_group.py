"""What simulators and buffers count when a run goes on, with actors that answer at once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from ray.exceptions import ActorUnavailableError

from suphx_platform.backend.backend import BackendState, Fault
from suphx_platform.on_ray.simulator_group import SimulatorGroup
from suphx_platform.on_ray.supervision.actor_supervisor import ActorSupervisor
from suphx_platform.on_ray.topology import Topology
from suphx_platform.parts.parameter_server import PolicyVersion
from suphx_platform.parts.ray_layout_config import RayLayoutConfig
from suphx_platform.parts.reinforcement_config import ReinforcementConfig
from suphx_platform.parts.replay_buffer import BufferCounts, BufferStatus
from tests.suphx_platform.on_ray.kept_calls import Actor, Reference


class RestoredShard(Actor):
    """A shard that says how it is after it has begun."""

    def __init__(self, counts: BufferCounts) -> None:
        super().__init__()
        self._status = BufferStatus(False, 0, 0, counts)
        self.begin = SimpleNamespace(remote=self._begin)

    def _begin(self, *_: Any) -> Reference:
        reference = Reference()
        reference.answer.set_result(self._status)
        return reference


def test_what_went_through_dead_shards_is_counted_after_a_resume_too() -> None:
    config = ReinforcementConfig()
    shard = RestoredShard(BufferCounts(added=300, learned=200))
    topology: Any = SimpleNamespace(buffers=[shard], simulators=[Actor()])
    supervisor = ActorSupervisor(config.cluster, {"buffer 0": shard, "simulator 0": Actor()})
    group = SimulatorGroup(config, cast(Topology, topology), supervisor)
    counts = BufferCounts(added=1000, learned=800, lost=50)  # of the shard, and of those that died before it
    state = BackendState(
        learner=({}, {}),
        latest=PolicyVersion(0, {}),
        older=[],
        counts=counts,
        next_simulator=1,
        simulators=[{}],
        buffers=[({}, {})],
        held=[[]],
    )
    group.begin(state)
    assert group.counts == counts


def test_a_shard_without_a_node_is_told_to_begin_once_and_gets_decisions_when_it_has_begun() -> None:
    config = ReinforcementConfig(cluster=RayLayoutConfig(on_ray=True))
    shard, simulator = Actor(), Actor()
    topology: Any = SimpleNamespace(buffers=[shard], simulators=[simulator])
    supervisor = ActorSupervisor(config.cluster, {"buffer 0": shard, "simulator 0": simulator})
    group = SimulatorGroup(config, cast(Topology, topology), supervisor)
    (handle,) = group._handles
    handle.pending.append("decisions")

    def answer(method: str, result: Any) -> None:
        reference = shard.calls.pop(shard.methods.index(method)).reference
        if isinstance(result, Exception):
            reference.answer.set_exception(result)
        else:
            reference.answer.set_result(result)
        supervisor.calls.wait(1)
        group.work(may_play=False)

    group.begin(None)
    group.work(may_play=False)
    assert shard.methods == ["begin"]
    answer("begin", BufferStatus(False, 0, 0, BufferCounts()))
    assert shard.methods == ["add"]
    answer("add", ActorUnavailableError("its node is gone", None))
    for _ in range(3):
        group.work(may_play=False)
    assert shard.methods == ["begin"]
    answer("begin", BufferStatus(False, 0, 0, BufferCounts()))
    assert shard.methods == ["add"]
    assert [event.name for event in supervisor.events() if isinstance(event, Fault)] == ["buffer_died"]
