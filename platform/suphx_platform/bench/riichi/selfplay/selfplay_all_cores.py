"""What the cores reach together if each does nothing but rules, planes and nets: less than their number times one.

Cores share caches, memory and, as siblings, units. What is lost to that, no platform can win back.
"""

from __future__ import annotations

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.synchronize import Barrier

from suphx.models.device import torch_threads
from suphx.worker_interrupt import become_worker, starting_workers
from suphx_platform.bench.riichi.selfplay.selfplay_alone import SelfplayCase, take_turns

_START_SECONDS = 300.0
_barrier: list[Barrier] = []  # of a worker process, set as it starts


def all_cores_rate(case: SelfplayCase) -> float:
    """Return the decisions a second of ``case.num_cores`` processes that play at a time and hand nothing over.

    RuntimeError (BrokenBarrierError) if they have not all started within five minutes.
    """
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(case.num_cores)
    with ProcessPoolExecutor(case.num_cores, context, initializer=_begin, initargs=(barrier,)) as pool:
        with starting_workers():
            rates = pool.map(_play_alone, [case] * case.num_cores)
        return sum(rates)


def _begin(barrier: Barrier) -> None:
    become_worker()
    _barrier.append(barrier)


def _play_alone(case: SelfplayCase) -> float:
    """Return the decisions a second of one process."""
    with torch_threads(1):
        engine = case.engine(case.policy_set())
        turns = take_turns(case, engine)
        _barrier[0].wait(_START_SECONDS)
        num_decisions, started = 0, time.monotonic()
        while time.monotonic() - started < case.seconds:
            group = next(turns)
            num_decisions += group.step(engine.evaluate(group.observe())).num_decisions
        return num_decisions / (time.monotonic() - started)
