"""What simulators and buffers count when a run goes on, with actors that answer at once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from ray.exceptions import ActorUnavailableError, ObjectReconstructionFailedError

from suphx.selfplay.backend import BackendState, Fault, Played
from suphx.selfplay.buffer import BufferCounts, BufferStatus
from suphx.selfplay.layout import Pace, RayLayoutConfig
from suphx.selfplay.weights import PolicyVersion
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx.training.trainer import PartAwayError
from suphx_platform.on_ray.simulator_group import SimulatorGroup
from suphx_platform.on_ray.supervision.actor_supervisor import ActorSupervisor
from suphx_platform.on_ray.topology import Topology
from tests.suphx_platform.on_ray.kept_calls import Actor, Reference, stop_when_told

EMPTY = BufferStatus(False, 0, 0, BufferCounts())


class RestoredShard(Actor):
    """A shard that says how it is after it has begun."""

    def __init__(self, counts: BufferCounts) -> None:
        super().__init__()
        report: Any = (BufferStatus(False, 0, 0, counts), ({}, {}))
        self.begin = SimpleNamespace(remote=lambda *_: answered(report))


def new_group(shard: Actor, simulator: Actor, pace: Pace = "free") -> tuple[SimulatorGroup, ActorSupervisor]:
    config = ReinforcementConfig(cluster=RayLayoutConfig(on_ray=True, pace=pace))
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


def test_a_simulator_that_has_never_begun_is_waited_for_before_a_save_in_lockstep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    group, supervisor = new_group(RestoredShard(BufferCounts()), Actor(), "lockstep")
    group.begin(None)
    told = stop_when_told(monkeypatch, supervisor)
    with pytest.raises(PartAwayError, match="simulator 0 is away"):
        group.add_state(new_state(BufferCounts()))
    assert told


def test_a_part_that_dies_in_lockstep_begins_with_its_last_state_and_repeats_its_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A state and what it leaves behind come in one report: what was not reported has not happened."""
    monkeypatch.setattr("suphx_platform.on_ray.simulator_group.ray.put", lambda value: value)
    monkeypatch.setattr("suphx_platform.on_ray.simulator_group.ray.get", lambda value: value)
    shard, simulator = Actor(), Actor()
    group, supervisor = new_group(shard, simulator, "lockstep")
    group.begin(None)
    gone = ActorUnavailableError("its node is gone", None)
    answer(group, supervisor, simulator, "begin", "games 0", may_play=True)
    answer(group, supervisor, shard, "begin", (EMPTY, "buffer 0"))
    first: Any = simulator.calls[0].arguments
    answer(group, supervisor, simulator, "play", gone)
    assert list(simulator.calls[0].arguments) == [0, "games 0"]
    answer(group, supervisor, simulator, "begin", "games 0", may_play=True)
    assert simulator.calls[0].arguments == first
    answer(group, supervisor, simulator, "play", (played("decisions"), "games 1"))
    answer(group, supervisor, shard, "add", gone)
    assert list(shard.calls[0].arguments) == [1, "buffer 0"]
    assert group.num_pending == 1
    answer(group, supervisor, shard, "begin", (EMPTY, "buffer 0"))
    assert list(shard.calls[0].arguments) == [["decisions"]]
    saved: Any = new_state(BufferCounts())
    group.add_state(saved)
    assert (saved.simulators, saved.buffers, saved.held) == (["games 1"], ["buffer 0"], [["decisions"]])
    answer(group, supervisor, shard, "add", (True, EMPTY, "buffer 1"))
    group.add_state(saved)
    assert (saved.buffers, saved.held) == (["buffer 1"], [[]])
    assert group.next_number == 1
    assert group.counts == BufferCounts()
    assert fault_names(supervisor) == ["simulator_died", "buffer_died"]


def test_a_shard_without_a_node_is_told_to_begin_once_and_gets_decisions_when_it_has_begun() -> None:
    shard = Actor()
    group, supervisor = new_group(shard, Actor())
    (handle,) = group._handles
    handle.pending.append("decisions")
    group.begin(None)
    group.work(may_play=False)
    assert shard.methods == ["begin"]
    answer(
        group, supervisor, shard, "begin", (BufferStatus(True, 60, 1000, BufferCounts(added=300, learned=240)), None)
    )
    assert shard.methods == ["add"]
    answer(group, supervisor, shard, "add", ActorUnavailableError("its node is gone", None))
    for _ in range(3):
        group.work(may_play=False)
    assert shard.methods == ["begin"]
    assert group.counts == BufferCounts(added=300, learned=240, lost=60)
    answer(group, supervisor, shard, "begin", (EMPTY, None))
    assert shard.methods == ["add"]
    assert fault_names(supervisor) == ["buffer_died"]


def test_decisions_that_are_lost_with_their_node_are_dropped_and_the_shard_stays() -> None:
    shard = Actor()
    group, supervisor = new_group(shard, Actor())
    (handle,) = group._handles
    handle.pending.append("decisions")
    group.begin(None)
    answer(group, supervisor, shard, "begin", (EMPTY, None))
    answer(group, supervisor, shard, "add", ObjectReconstructionFailedError("4f64a7"))
    assert group.num_pending == 0
    assert shard.methods == []
    assert fault_names(supervisor) == ["simulator_failed"]


def test_decisions_that_a_full_shard_did_not_take_are_in_the_state_and_are_offered_after_a_resume(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("suphx_platform.on_ray.simulator_group.ray.put", lambda value: value)
    monkeypatch.setattr("suphx_platform.on_ray.simulator_group.ray.get", lambda value: value)
    shard: Any = RestoredShard(BufferCounts())
    simulator: Any = Actor()
    group, supervisor = new_group(shard, simulator, "lockstep")
    held: Any = ["decisions"]
    state = new_state(BufferCounts())
    state.held = [held]
    group.begin(state)
    simulator.calls.pop().reference.answer.set_result({})
    supervisor.calls.wait(1)
    group.work(may_play=False)
    assert group.num_pending == 1
    assert "add" not in shard.methods, "the shard was full"
    saved = new_state(BufferCounts())
    group.add_state(saved)
    assert saved.held == [held]
    group.note_status(group.shards[0], EMPTY, has_given=True)
    group.work(may_play=False)
    assert "add" in shard.methods


def played(*decisions: Any) -> Played:
    return Played(list(decisions), 0, 0, 0, 0.0, 0.0)


def answer(
    group: SimulatorGroup,
    supervisor: ActorSupervisor,
    actor: Actor,
    method: str,
    result: Any,
    *,
    may_play: bool = False,
) -> None:
    """Answer the oldest call of ``method``, and let the group work."""
    give(actor.calls.pop(actor.methods.index(method)).reference, result)
    supervisor.calls.wait(1)
    group.work(may_play=may_play)


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
