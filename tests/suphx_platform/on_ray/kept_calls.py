"""An actor that keeps its calls until the test answers them, in an order that real processes rarely produce."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from suphx_platform.on_ray.actor.missing_parts import MissingParts
from suphx_platform.on_ray.supervision.actor_supervisor import ActorSupervisor


class Reference:
    """A reference whose answer comes when the test gives it."""

    def __init__(self) -> None:
        self.answer: Future[Any] = Future()

    def future(self) -> Future[Any]:
        return self.answer


@dataclass(frozen=True)
class Call:
    method: str
    arguments: Sequence[Any]
    reference: Reference


class Actor:
    """An actor that keeps its calls until the test answers them."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def __getattr__(self, method: str) -> Any:
        def remote(*arguments: Any) -> Any:
            call = Call(method, arguments, Reference())
            self.calls.append(call)
            return (call.reference, f"batch {len(self.calls)}") if method in ("take", "play") else call.reference

        return SimpleNamespace(remote=remote)

    @property
    def methods(self) -> list[str]:
        return [call.method for call in self.calls]


def stop_when_told(monkeypatch: pytest.MonkeyPatch, supervisor: ActorSupervisor) -> list[str]:
    """Have the supervisor log at once which parts are away, and the run stop then; return what it logs."""
    monkeypatch.setattr("suphx_platform.on_ray.actor.missing_parts._SAY_SECONDS", -1.0)
    monkeypatch.setattr("suphx_platform.on_ray.actor.missing_parts.ray.cluster_resources", dict)
    monkeypatch.setattr("suphx_platform.on_ray.supervision.actor_supervisor._WAIT_SECONDS", 0.01)
    told = list[str]()
    supervisor._missing = MissingParts(supervisor._parts, told.append, remedy="add some")
    stop_when(supervisor, lambda: bool(told))
    return told


def stop_when(supervisor: ActorSupervisor, is_made: Callable[[], bool]) -> None:
    """Have the run stop when a stop ``is_made``, and all parts that are here have said so since."""
    supervisor.is_stopping = is_made
    supervisor._stop_seen_at = -1e6
