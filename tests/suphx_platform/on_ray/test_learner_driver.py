"""The learner's calls in orders that real processes rarely produce: the test answers each call when it wants."""

from __future__ import annotations

import logging
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from ray.exceptions import ActorUnavailableError, ObjectReconstructionFailedError

from suphx.selfplay.backend import Fault, Learned
from suphx.selfplay.buffer import BufferCounts, BufferStatus
from suphx.selfplay.config import ParameterServerConfig
from suphx.selfplay.layout import RayLayoutConfig
from suphx.selfplay.weights import ParameterServer, PolicyVersion
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx.training.trainer import PartAwayError
from suphx_platform.on_ray.actor.ray_actor import Health
from suphx_platform.on_ray.learner_driver import LearnerDriver
from suphx_platform.on_ray.ray_actors import Taken
from suphx_platform.on_ray.simulator_group import SimulatorGroup
from suphx_platform.on_ray.supervision.actor_supervisor import ActorSupervisor
from suphx_platform.on_ray.topology import Topology
from tests.selfplay.small_policy_set import small_policy_set
from tests.suphx_platform.on_ray.kept_calls import Actor, Call, stop_when, stop_when_told

READY = BufferStatus(True, 200, 1000, BufferCounts())
CONFIG = ReinforcementConfig(
    max_updates=100, weight_sync_interval=2, cluster=RayLayoutConfig(on_ray=True, learner_copy_interval=3)
)


class Case:
    """A driver with a learner, a server and a buffer that the test moves."""

    def __init__(self, config: ReinforcementConfig) -> None:
        self.learner, self.buffer, self.parameter_server = Actor(), Actor(), Actor()
        topology: Any = SimpleNamespace(
            learner=self.learner, server=self.parameter_server, engines=[], buffers=[self.buffer], simulators=[]
        )
        parts = {"learner": self.learner, "server": self.parameter_server, "buffer 0": self.buffer}
        self.supervisor = ActorSupervisor(config.cluster, parts)
        simulators = SimulatorGroup(config, cast(Topology, topology), self.supervisor)
        simulators.note_status(simulators.shards[0], READY, has_given=False)
        self.driver = LearnerDriver(config, cast(Topology, topology), self.supervisor, simulators)
        self.driver.begin([small_policy_set(1)], None)
        self.server = ParameterServer(ParameterServerConfig(), None, num_older=1)
        self.answer(self.learner, "begin", (0, {}, {}))

    def answer(self, actor: Actor, method: str, result: Any) -> None:
        """Answer the oldest open call of ``method``."""
        self._taken(actor, method).reference.answer.set_result(result)
        self.supervisor.calls.wait(1)

    def fail(self, actor: Actor, method: str, error: Exception | None = None) -> None:
        """Answer the oldest open call of ``method`` with ``error``, by default the death of the actor."""
        self._taken(actor, method).reference.answer.set_exception(error or ActorUnavailableError("gone", None))
        self.supervisor.calls.wait(1)

    def take(self) -> None:
        """Give the learner one more batch."""
        self.driver.work(may_learn=True)
        self.answer(self.buffer, "take", Taken(0.0, READY))

    def learn(self, number: int) -> None:
        self.answer(self.learner, "learn", Learned(number, {}, 0.0))

    def publish(self) -> None:
        """Have the learner give its weights and the server take them."""
        self.answer(self.learner, "weights", "weights")
        self.server.publish("weights")
        versions: tuple[PolicyVersion, list[PolicyVersion]] = (self.server.latest_version, self.server.older())
        self.answer(self.parameter_server, "publish", versions)

    def reported(self) -> list[int]:
        """Return the numbers of the updates that were reported since the last call."""
        return [event.number for event in self.supervisor.events() if isinstance(event, Learned)]

    @staticmethod
    def _taken(actor: Actor, method: str) -> Call:
        call = next(call for call in actor.calls if call.method == method and not call.reference.answer.done())
        actor.calls.remove(call)
        return call


@pytest.fixture
def case(monkeypatch: pytest.MonkeyPatch) -> Case:
    monkeypatch.setattr("suphx_platform.on_ray.learner_driver.ray.put", lambda value: value)
    return Case(CONFIG)


def test_an_update_that_makes_a_version_is_reported_when_the_server_has_it(case: Case) -> None:
    for _ in range(2):
        case.take()
    case.learn(1)
    assert case.reported() == [1]
    case.learn(2)
    case.take()
    case.learn(3)
    assert case.reported() == []
    assert case.driver.is_busy
    case.publish()
    assert case.reported() == [2, 3]
    assert case.driver.latest.number == 1
    assert not case.driver.is_busy


def test_every_version_that_is_due_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suphx_platform.on_ray.learner_driver.ray.put", lambda value: value)
    case = Case(replace(CONFIG, weight_sync_interval=1))
    for _ in range(2):
        case.take()
    for number in (1, 2):
        case.learn(number)
    case.driver.work(may_learn=True)
    assert "take" not in case.buffer.methods, "the learner waits for the server"
    case.publish()
    assert case.reported() == [1]
    case.publish()
    assert case.reported() == [2]
    assert case.driver.latest.number == 2


def test_no_more_updates_are_begun_than_the_run_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suphx_platform.on_ray.learner_driver.ray.put", lambda value: value)
    case = Case(replace(CONFIG, max_updates=1))
    case.take()
    case.driver.work(may_learn=True)
    assert "take" not in case.buffer.methods
    case.learn(1)
    case.driver.work(may_learn=True)
    assert "take" not in case.buffer.methods


def test_a_learner_that_dies_before_it_gives_its_weights_is_restored_and_gives_them(case: Case) -> None:
    for number in (1, 2):
        case.take()
        case.learn(number)
    assert case.reported() == [1]
    case.fail(case.learner, "weights")
    assert case.learner.methods == ["begin"]
    assert case.driver.is_busy
    case.answer(case.learner, "begin", (0, {}, {}))
    assert case.learner.methods == ["learn", "learn", "weights"]
    for number in (1, 2):
        case.learn(number)
    case.publish()
    events = case.supervisor.events()
    assert [event.name for event in events if isinstance(event, Fault)] == ["learner_died"]
    assert [event.number for event in events if isinstance(event, Learned)] == [2], "no update is counted twice"
    assert not case.driver.is_busy


def be_heard(case: Case, life: int) -> None:
    """Have the learner say in which life it is: only then another death is another failure."""
    case.supervisor._note_health("learner", Health(1, "here", 0, str(life)))


def test_a_batch_that_kills_the_learner_each_time_ends_the_run(case: Case, caplog: pytest.LogCaptureFixture) -> None:
    """The batches that it repeats before that one are no success: its failures would be forgotten each time."""
    caplog.set_level(logging.INFO, "suphx_platform")
    be_heard(case, life=0)
    case.take()
    case.learn(1)
    case.take()
    for life in range(1, CONFIG.cluster.max_failures + 1):
        case.fail(case.learner, "learn")
        be_heard(case, life)
        case.answer(case.learner, "begin", (0, {}, {}))
        case.learn(1)
    with pytest.raises(ActorUnavailableError):
        case.fail(case.learner, "learn")
    logged = [line for line in caplog.messages if line.startswith("learner died: ")]
    assert len(logged) == CONFIG.cluster.max_failures + 1, "each death is logged at once, whoever waits for what"


def test_a_learner_that_goes_on_after_it_died_has_no_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suphx_platform.on_ray.learner_driver.ray.put", lambda value: value)
    case = Case(replace(CONFIG, weight_sync_interval=100))
    be_heard(case, life=0)
    for number in range(1, CONFIG.cluster.max_failures + 3):
        case.take()
        case.fail(case.learner, "learn")
        be_heard(case, number)
        case.answer(case.learner, "begin", (0, {}, {}))
        for repeated in range(1, number + 1):
            case.learn(repeated)
    assert case.driver._learner.num_learned == CONFIG.cluster.max_failures + 2


@pytest.mark.parametrize("method", ["weights", "state"])
def test_a_learner_whose_answer_is_lost_with_its_node_is_restored(case: Case, method: str) -> None:
    for number in (1, 2, 3):
        case.take()
        case.learn(number)
    case.fail(case.learner, method, ObjectReconstructionFailedError("4f64a7"))
    assert "begin" in case.learner.methods
    case.answer(case.learner, "begin", (0, {}, {}))
    assert case.learner.methods.count("learn") == 3, "it learns again from the batches since its copy"
    for number in (1, 2, 3):
        case.learn(number)
    assert {"weights", "state"} <= set(case.learner.methods), "what is lost is asked for again"
    assert [event.name for event in case.supervisor.events() if isinstance(event, Fault)] == ["learner_failed"]


def test_batches_that_are_lost_with_their_node_are_one_fault_and_others_follow(case: Case) -> None:
    for _ in range(2):
        case.take()
    for _ in range(2):
        case.fail(case.learner, "learn", ObjectReconstructionFailedError("4f64a7"))
    assert case.driver._learner.num_open == 0
    assert not case.driver.is_busy
    case.take()
    case.learn(1)
    assert case.driver._learner.num_learned == 1
    faults = [event for event in case.supervisor.events() if isinstance(event, Fault)]
    assert [fault.name for fault in faults] == ["learner_failed"]
    assert faults[0].message.startswith("batches are lost with their node: ")


def test_a_copy_that_a_dead_learner_made_is_ignored(case: Case) -> None:
    """The restarted learner has the copy before; without its batches the updates since then would be lost."""
    for number in (1, 2, 3):
        case.take()
        case.learn(number)
    assert case.learner.methods == ["weights", "state"]
    case.publish()
    case.take()
    case.fail(case.learner, "learn")
    case.answer(case.learner, "state", (3, {}, {}))
    assert case.learner.methods == ["begin"]
    case.answer(case.learner, "begin", (0, {}, {}))
    assert case.learner.methods == ["learn"] * 4
    case.reported()
    for number in (1, 2, 3, 4):
        case.learn(number)
    case.publish()
    assert case.reported() == [4]


def test_a_server_without_a_node_is_told_to_begin_once_and_gets_the_version_when_it_has_begun(case: Case) -> None:
    case.answer(case.parameter_server, "begin", None)
    for number in (1, 2):
        case.take()
        case.learn(number)
    case.answer(case.learner, "weights", "weights")
    case.fail(case.parameter_server, "publish")
    case.driver._begin_server()  # as when its health says that it awaits that
    assert [method for method in case.parameter_server.methods if method != "health"] == ["begin"]
    case.answer(case.parameter_server, "begin", None)
    assert "publish" in case.parameter_server.methods
    assert case.driver.is_busy


def test_a_stop_does_not_wait_for_a_learner_that_is_away(case: Case) -> None:
    is_made = False
    stop_when(case.supervisor, lambda: is_made)
    for number in (1, 2, 3):
        case.take()
        case.learn(number)
    case.answer(case.learner, "state", (3, {"weight": np.ones(2)}, {"num_updates": 3}))
    case.take()
    case.fail(case.learner, "learn")
    case.driver.check_stop()
    is_made = True
    with pytest.raises(PartAwayError, match="learner is away"):
        case.driver.check_stop()
    with pytest.raises(PartAwayError):
        case.driver.weights()


def test_a_stop_waits_for_a_server_that_is_away_only_while_it_has_nothing_to_do(case: Case) -> None:
    stop_when(case.supervisor, lambda: True)
    for number in (1, 2):
        case.driver.check_stop()
        case.take()
        case.learn(number)
    with pytest.raises(PartAwayError, match="server is away"):
        case.driver.check_stop()


def test_who_waits_for_weights_of_a_learner_without_a_node_is_told_so_and_may_stop(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = stop_when_told(monkeypatch, case.supervisor)
    case.take()
    case.fail(case.learner, "learn")
    with pytest.raises(PartAwayError, match="learner is away"):
        case.driver.weights()
    assert told[0].startswith("waiting for buffer 0, learner, server: ")
