from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
import ray
from ray.exceptions import ActorUnavailableError, RayTaskError

from suphx.games.riichi.names import DISCARD_HEAD
from suphx.selfplay.backend import Learned, Played
from suphx.selfplay.buffer import ReplayBuffer, RoundBuffer
from suphx.selfplay.config import InferenceEngineConfig, ReplayBufferConfig
from suphx.selfplay.requests import EngineCounts
from suphx.selfplay.weights import PolicyVersion
from suphx_platform.ray import actors
from suphx_platform.ray.actors import (
    BufferActor,
    InferenceEngineActor,
    LearnerActor,
    ParameterServerActor,
    SimulatorActor,
)
from suphx_platform.ray.process import NotBegunError
from tests.training.decision_batch import decisions


@dataclass
class Round:
    """A round of one sample."""

    version: int = 0
    samples: Any = ()
    number: int = field(default_factory=count().__next__)

    def __len__(self) -> int:
        return 1

    def copied(self) -> Round:
        return self


def test_simulators_buffers_and_the_server_do_not_load_torch() -> None:
    program = "import sys, suphx_platform.ray.actors as t; assert t.SimulatorActor; print('torch' in sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "False"


def test_a_full_buffer_tells_those_who_wait_one_after_another_that_there_is_room() -> None:
    async def run() -> None:
        buffer: Any = BufferActor(partial(RoundBuffer, 2))
        await buffer.begin()
        assert [await buffer.add([Round()]) for _ in range(3)] == [0, 0, None]
        waiting = [asyncio.ensure_future(buffer.room(1)) for _ in range(2)]
        await asyncio.sleep(0)
        staleness, _ = await buffer.take(7)
        await asyncio.sleep(0)
        assert (staleness, [each.done() for each in waiting]) == (7.0, [True, False])
        assert await buffer.add([Round()]) == 7, "whoever adds hears of the newest version"
        await buffer.take(8)
        await asyncio.sleep(0)
        assert waiting[1].done()

    asyncio.run(run())


def test_a_learner_that_waits_for_a_batch_gets_it_as_soon_as_it_is_there() -> None:
    async def run() -> None:
        buffer: Any = BufferActor(partial(RoundBuffer, 2))
        await buffer.begin()
        taking = asyncio.ensure_future(buffer.take(3, 60.0))
        await asyncio.sleep(0)
        await buffer.add([Round(version=1, samples="samples")])
        assert await asyncio.wait_for(taking, 10) == (2.0, "samples")
        assert await buffer.take(3) == (None, None)

    asyncio.run(run())


def test_a_buffer_that_is_full_before_it_has_a_batch_says_so() -> None:
    async def run() -> None:
        config = ReplayBufferConfig(batch_size=200_000, capacity_bytes=2**20)
        buffer: Any = BufferActor(partial(ReplayBuffer, config, [DISCARD_HEAD]))
        await buffer.begin()
        while await buffer.add([decisions()]) is not None:
            pass
        assert not (await health(buffer)).is_stuck
        await buffer.take(0)
        assert await buffer.add([decisions()]) is None
        assert (await health(buffer)).is_stuck

    async def health(buffer: Any) -> Any:
        return (await buffer.health()).status

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ray.util, "get_node_ip_address", lambda: "here")
        asyncio.run(run())


class EvenEngine:
    """An engine that notes how many requests it answers together, and by which version."""

    def __init__(self) -> None:
        self.engine = SimpleNamespace(
            config=InferenceEngineConfig(wait_seconds=0.2, max_batch_size=6), counts=EngineCounts(), version=0
        )
        self.groups: list[tuple[int, int]] = []

    def evaluate_together(self, requests: list[Any]) -> list[Any]:
        self.groups.append((len(requests), self.engine.version))
        if any(part == "bad" for request in requests for part in request):
            raise ValueError("bad rows")
        return requests

    def ask_newest(self) -> int:
        return 7

    def take(self, update: int) -> None:
        self.engine.version = update


class Rows(str):
    """Observations of a request."""

    def dense(self) -> Rows:
        return self


def test_requests_that_come_while_others_are_answered_are_answered_together_and_weights_come_between() -> None:
    async def run() -> None:
        own = EvenEngine()
        engine: Any = InferenceEngineActor(lambda: own)  # type: ignore[arg-type, return-value]
        asked = [Rows(text) for text in ("ab", "cd", "ef", "gh")]
        calls = [asyncio.ensure_future(engine.evaluate([part])) for part in asked]
        assert await asyncio.gather(*calls) == [[part] for part in asked]
        assert own.groups == [(3, 0), (1, 0)], "the fourth has no room in a batch of six"
        assert (await engine.fetch(), await engine.evaluate([Rows("a")])) == (7, ["a"])
        assert own.groups[-1] == (1, 7)

    asyncio.run(run())


def test_an_error_reaches_all_who_asked_and_the_engine_goes_on() -> None:
    async def run() -> None:
        engine: Any = InferenceEngineActor(EvenEngine)  # type: ignore[arg-type]
        for each in await asyncio.gather(
            *(engine.evaluate([Rows(text)]) for text in ("ab", "bad")), return_exceptions=True
        ):
            assert isinstance(each, ValueError)
        assert await engine.evaluate([Rows("ab")]) == ["ab"]

    asyncio.run(run())


def test_weights_that_are_sent_again_make_no_second_version() -> None:
    server: Any = ParameterServerActor(keeps_older=True)
    server.begin(["policies"], [PolicyVersion(0, ["start"])])
    for _ in range(2):
        latest, _older = server.publish(["weights"], 1)
        assert (latest.number, latest.weights) == (1, ["weights"])
    assert server.publish(["newer"], 2)[0].number == 2


class Shard:
    """A shard whose answers are those of a list; an exception is raised."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.added = list(answers), list[Any]()
        self.add = SimpleNamespace(remote=self._add)
        self.room = SimpleNamespace(remote=lambda _: True)
        self.take = SimpleNamespace(remote=lambda *_: self.answers.pop(0))

    def _add(self, parts: Any) -> Any:
        self.added.append(parts)
        return self.answers.pop(0)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Shard:
    """A shard in this process, whose references are its answers."""
    shard = Shard()

    def get(answer: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(ray, "get_actor", lambda name: shard)
    monkeypatch.setattr(ray, "get", get)
    monkeypatch.setattr(ray, "wait", lambda references, timeout: (references, []))
    monkeypatch.setattr(actors, "BACK_OFF_SECONDS", 0.0)
    return shard


class Rounds:
    """A simulator of rounds."""

    def play(self, order: int, *, version: int, drains: bool) -> Played:
        return Played([Round(version=order)], 1, 1, 1, 1.0, 0.0)  # type: ignore[list-item]


def new_simulator() -> Any:
    simulator: Any = SimulatorActor(lambda number, engine: Rounds(), lambda: None, "buffer 0")
    simulator.begin(0, 0)
    return simulator


def test_a_simulator_keeps_what_its_shard_refuses_or_loses_and_plays_on_when_it_was_taken(here: Shard) -> None:
    simulator = new_simulator()
    here.answers = [None, ActorUnavailableError("gone", None), 5, 6]
    assert simulator.play(1, 0, None).num_games == 1
    assert simulator.play(2, 0, None).num_games == 1
    assert [round.version for (round,) in here.added] == [1, 1, 1, 2]
    assert simulator._version == 5


def test_a_simulator_plays_ahead_only_while_its_shard_takes_all_at_once(
    here: Shard, monkeypatch: pytest.MonkeyPatch
) -> None:
    num_answers = 0

    def wait(references: list[Any], timeout: float) -> tuple[list[Any], list[Any]]:
        nonlocal num_answers
        num_answers -= 1
        return (references, []) if num_answers >= 0 else ([], references)

    monkeypatch.setattr(ray, "wait", wait)
    monkeypatch.setattr(ray, "get", lambda answer: answer[0] if isinstance(answer, tuple) else answer)
    monkeypatch.setattr(actors, "_HOLD_SECONDS", 0.0)
    simulator = new_simulator()
    here.answers = [(None,), (5,), (None,), (6,), (7,), (8,)]
    num_games: list[int] = []
    for expected in (0, 3, 3, 1):  # answers of the shard, about room too, during a call
        num_answers = expected
        num_games.append(simulator.play(1, 0, 60.0).num_games)
    assert num_games == [2, 0, 1, 2], "played ahead; refused: nothing ahead; taken after a wait: again; taken at once"
    assert here.answers == []


def test_a_simulator_keeps_what_it_played_while_nobody_has_the_name_of_its_shard(
    here: Shard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As between the end of an actor and the new one in its place."""
    found: list[Shard | Exception] = [ValueError("no such actor"), ValueError("no such actor"), here]

    def get_actor(name: str) -> Shard:
        if isinstance(first := found.pop(0), Shard):
            return first
        raise first

    monkeypatch.setattr(ray, "get_actor", get_actor)
    simulator = new_simulator()
    here.answers = [5, 6]
    assert simulator.play(1, 0, None).num_games == 1
    assert simulator.play(2, 0, None).num_games == 1
    assert [round.version for (round,) in here.added] == [1, 2]


def test_an_error_of_a_shard_that_lives_is_raised_by_whoever_asks(here: Shard) -> None:
    simulator = new_simulator()
    broken = RayTaskError("add", "its traceback", TypeError("no decisions"))
    here.answers = [RayTaskError("add", "", NotBegunError("started again")), broken]
    simulator.play(1, 0, None)
    with pytest.raises(RayTaskError, match="its traceback"):
        simulator.play(2, 0, None)
    assert here.answers == []


def test_a_simulator_in_lockstep_tells_whether_its_shard_has_taken_what_was_played(here: Shard) -> None:
    simulator = new_simulator()
    here.answers = [None, None, 0]
    assert simulator.play_once(1, 0)[1] is False
    assert simulator.deliver() is False
    assert simulator.deliver() is True


class Counting:
    """A learner that counts, and fails at a batch that is an exception."""

    num_updates = 0

    def learn(self, parts: Any, staleness: float) -> Learned:
        if isinstance(parts, Exception):
            raise parts
        self.num_updates += 1
        return Learned(self.num_updates, {"staleness": staleness}, 0.0)

    def weights(self) -> dict[str, Any]:
        return {}

    match_weights = weights

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return {}, {"num_updates": self.num_updates}

    def restore(self, tensors: dict[str, Any], values: dict[str, Any]) -> None:
        self.num_updates = values["num_updates"]


def test_a_learner_works_to_the_next_version_and_to_the_update_that_it_is_told(here: Shard) -> None:
    learner: Any = LearnerActor(Counting, ["buffer 0"], 2, 2, 3)
    learner.begin(None)
    here.answers = [(0.0, {})] * 20
    first = learner.work(5, 60.0)
    assert ([each.number for each in first.learned], first.weights, first.copy) == ([1, 2], {}, None)
    second = learner.work(5, 60.0)
    assert ([each.number for each in second.learned], second.weights, second.copy[0]) == ([3], None, 3)
    assert [each.number for each in learner.work(5, 60.0).learned] == [4]
    assert [each.number for each in learner.work(5, 60.0).learned] == [5]
    assert learner.work(5, 60.0).learned == []


def test_updates_before_one_that_fails_are_told_first(here: Shard) -> None:
    learner: Any = LearnerActor(Counting, ["buffer 0"], 10, 10, 10)
    learner.begin((4, {}, {"num_updates": 4}))
    here.answers = [(0.0, {}), ActorUnavailableError("gone", None), (None, None), *[(0.0, ValueError("wrong"))] * 4]
    assert [each.number for each in learner.work(10, 60.0).learned] == [5]
    with pytest.raises(ValueError, match="wrong"):
        learner.work(10, 60.0)
