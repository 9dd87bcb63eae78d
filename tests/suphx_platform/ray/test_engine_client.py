from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
import ray
from ray.exceptions import ActorUnavailableError, GetTimeoutError, ObjectReconstructionFailedError, RayTaskError

from suphx.selfplay.layout import RayLayoutConfig
from suphx_platform.ray import engine_client
from suphx_platform.ray.engine_client import EngineClient
from suphx_platform.ray.process import PeerLostError


class Engines:
    """Engines whose references are their numbers, on a clock that goes on only when somebody waits for one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, number: int, get: Callable[[int, float], None]) -> None:
        """``get(engine, timeout)`` raises what waiting for a reply raises, if anything."""
        self.now = 0.0
        self.asked: list[int] = []
        """Whose reply was waited for."""
        self.sent: list[int] = []
        """Who was sent a request."""
        self.nameless = set[int]()
        """Whose names nobody has."""
        self.silent = set[int]()
        """Whose replies have not come."""
        self._get = get
        clock = SimpleNamespace(monotonic=lambda: self.now, sleep=self._sleep)
        monkeypatch.setattr(engine_client, "time", clock)
        monkeypatch.setattr(ray, "get", self._wait_for)
        monkeypatch.setattr(ray, "wait", self._ready)
        self.peers: Any = [SimpleNamespace(call=self._call(each), forget=lambda: None) for each in range(number)]

    def client(self, index: int = 0) -> EngineClient:
        return EngineClient(self.peers, index, RayLayoutConfig())

    def _call(self, engine: int) -> Callable[[str, Any], int]:
        def call(method: str, _: Any) -> int:
            if engine in self.nameless:
                raise PeerLostError
            self.sent.append(engine)
            return engine

        return call

    def _sleep(self, seconds: float) -> None:
        self.now += seconds

    def _wait_for(self, engine: int, timeout: float) -> list[Any]:
        self.asked.append(engine)
        self._get(engine, timeout)
        if engine in self.silent:
            self.now += timeout
            raise GetTimeoutError("no answer")
        return []

    def _ready(self, engines: Sequence[int], *, timeout: float, fetch_local: bool) -> tuple[list[int], list[int]]:
        assert (timeout, fetch_local) == (0, False)
        silent = [engine for engine in engines if engine in self.silent]
        return [engine for engine in engines if engine not in self.silent], silent


def test_a_simulator_waits_for_engines_as_long_as_no_node_has_room_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def get(_: int, timeout: float) -> None:
        assert timeout == 60.0
        if engines.now < 7200:
            raise ActorUnavailableError("no node", None)

    monkeypatch.setattr(engine_client, "_BACK_OFF_SECONDS", 600.0)
    engines = Engines(monkeypatch, 1, get)
    assert engines.client().submit([]).result() == []
    assert engines.now == 7200


@pytest.mark.parametrize("error", [ActorUnavailableError("dead", None), ObjectReconstructionFailedError("4f64a7")])
def test_engines_that_are_dead_are_asked_in_turn_and_avoided_for_a_while(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    lost = {0, 1, 2}

    def get(engine: int, _: float) -> None:
        if engine in lost:
            raise error

    engines = Engines(monkeypatch, 4, get)
    client = engines.client()
    client.submit([]).result()
    assert engines.asked == [0, 1, 2, 3]
    engines.asked.clear()
    lost.clear()
    client.submit([]).result()
    assert engines.asked == [3]
    engines.now += 40  # its own engine is asked again soon after it is back
    client.submit([]).result()
    assert engines.asked == [3, 0]


def test_an_engine_that_does_not_answer_is_asked_again_when_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that no node has room for stalls its simulators once, not every time that it was avoided for a while."""
    engines = Engines(monkeypatch, 3, lambda engine, _: None)
    engines.silent = {0}
    client = engines.client()
    requests = [client.submit([]), client.submit([])]  # of two groups of tables: both have been sent
    for request in requests:
        request.result()
    assert engines.asked == [0, 1, 0, 1]
    assert engines.now == pytest.approx(60 + 1, abs=1), "the second has had its time while the first was waited for"
    for _ in range(10):
        engines.now += 3600
        client.submit([]).result()
    assert engines.sent == [0, 0, 1, 1] + [1] * 10
    engines.silent.clear()
    client.submit([]).result()
    assert engines.sent[-1] == 0


def test_if_no_engine_answers_the_one_that_was_given_up_first_is_waited_for_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def get(_: int, __: float) -> None:
        if len(engines.asked) == 9:
            engines.silent.clear()

    engines = Engines(monkeypatch, 4, get)
    engines.silent = {0, 1, 2, 3}
    engines.client(index=1).submit([]).result()
    assert engines.asked == [1, 2, 3, 0, 1, 2, 3, 0, 1]
    assert engines.sent == [1, 2, 3, 0], "none gets the same request twice"


@pytest.mark.parametrize("silent", [set[int](), {2}])
def test_a_request_at_which_an_engine_fails_is_answered_by_another_and_fails_if_all_do(
    monkeypatch: pytest.MonkeyPatch, silent: set[int]
) -> None:
    failing = {0}

    def get(engine: int, _: float) -> None:
        if engine in failing:
            raise RayTaskError("evaluate", "wrong shapes", RuntimeError("wrong shapes"))

    engines = Engines(monkeypatch, 3, get)
    engines.silent = silent
    client = engines.client()
    client.submit([]).result()
    assert engines.asked == [0, 1]
    failing |= {1, 2} - silent
    engines.now += 40
    engines.asked.clear()
    with pytest.raises(RayTaskError, match="wrong shapes"):
        client.submit([]).result()
    assert sorted(engines.asked) == [0, 1, 2]


def test_an_engine_that_is_just_replaced_is_asked_later(monkeypatch: pytest.MonkeyPatch) -> None:
    engines = Engines(monkeypatch, 2, lambda engine, _: None)
    engines.nameless = {0}
    client = engines.client()
    client.submit([]).result()
    assert engines.asked == [1]
    engines.nameless.clear()
    engines.now += 40
    client.submit([]).result()
    assert engines.asked == [1, 0]
