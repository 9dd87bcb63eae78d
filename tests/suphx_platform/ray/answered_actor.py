"""Actors that answer when a test says so."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from suphx_platform.ray.supervisor import Supervisor


@dataclass
class Call:
    """A call whose answer comes when the test gives it."""

    method: str
    arguments: tuple[Any, ...]
    answer: Future[Any]

    def future(self) -> Future[Any]:
        return self.answer


class Actor:
    """An actor that keeps its calls until the test answers them."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def __getattr__(self, method: str) -> Any:
        def remote(*arguments: Any) -> Call:
            self.calls.append(Call(method, arguments, Future()))
            return self.calls[-1]

        return SimpleNamespace(remote=remote)

    def last(self, method: str) -> Future[Any]:
        return next(call.answer for call in reversed(self.calls) if call.method == method)


def stop_when(supervisor: Supervisor, is_made: Callable[[], bool]) -> None:
    """Have the run stop when a stop ``is_made``, and all parts that are here have said so since."""
    supervisor.is_stopping = is_made
    supervisor._stop_seen_at = -1e6
