"""An actor that keeps its calls until the test answers them, in an order that real processes rarely produce."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any


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
            return (call.reference, f"batch {len(self.calls)}") if method == "take" else call.reference

        return SimpleNamespace(remote=remote)

    @property
    def methods(self) -> list[str]:
        return [call.method for call in self.calls]
