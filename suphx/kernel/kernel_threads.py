"""Calls on several threads of this process, for kernels that release the GIL.

>>> map_on_threads(lambda part: kernel(rows[part]), [slice(0, 500), slice(500, 1000)], num_threads=2)

The threads are kept: a start of new ones for each call would take a tenth of a batch's time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import TypeVar

A = TypeVar("A")
T = TypeVar("T")

_MAX_THREADS = 256  # started when they are needed only


def map_on_threads(call: Callable[[A], T], items: Sequence[A], num_threads: int) -> list[T]:
    """Return ``call(item)`` for all items, computed by ``num_threads`` threads, of which the caller's is one.

    Each free thread takes the next item. An error of a call is raised when all threads have stopped.
    """
    if num_threads == 1 or len(items) <= 1:
        return [call(item) for item in items]
    results: dict[int, T] = {}
    numbered = iter(enumerate(items))  # shared: the GIL gives each item to one thread

    def work() -> None:
        for i, item in numbered:
            results[i] = call(item)

    helpers = [_threads().submit(work) for _ in range(min(num_threads, len(items)) - 1)]
    try:
        work()
    finally:
        wait([helper for helper in helpers if not helper.cancel()])
    for helper in helpers:
        if not helper.cancelled():
            helper.result()
    return [results[i] for i in range(len(items))]


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="kernel")


os.register_at_fork(after_in_child=_threads.cache_clear)  # a child has none of its parent's threads
