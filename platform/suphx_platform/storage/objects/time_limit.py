"""A time limit for a whole call.

The limits of boto3 are for one connection and one read: a server that sends a byte now and then never exceeds them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T:
    """Return what ``work`` returns, or raise what it raises; TimeoutError if it takes longer than ``seconds``.

    It goes on in a thread of its own then, which the end of the process does not wait for.
    """
    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(work())
        except BaseException as error:  # noqa: BLE001  # it is raised where the answer is waited for
            answer.set_exception(error)

    threading.Thread(target=run, name="limited call", daemon=True).start()
    return answer.result(seconds)
