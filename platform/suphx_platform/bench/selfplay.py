"""Self-play without learning, end to end: in threads of this process, over Ray, or one process a core."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import asdict
from multiprocessing.synchronize import Barrier

from suphx.experience.decisions import Decisions
from suphx.games.riichi.names import DISCARD_HEAD
from suphx.models.device import torch_threads
from suphx.selfplay.agents.policy_set import PolicySet
from suphx.selfplay.buffer import ReplayBuffer
from suphx.selfplay.config import ReplayBufferConfig, SimulatorConfig
from suphx.selfplay.engine import InferenceEngine, LocalEngine
from suphx.selfplay.requests import EnginePort
from suphx.selfplay.simulator import SelfPlaySimulator
from suphx.worker_interrupt import become_worker, starting_workers
from suphx_platform.bench.selfplay_alone import (
    COUNTS,
    FIRST_STEPS,
    Alone,
    SelfplayCase,
    Together,
    measure_alone,
    take_turns,
    together,
)
from suphx_platform.ray.process import peak_bytes

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


def bench_selfplay(case: SelfplayCase, *, say: Callable[[str], None]) -> dict[str, object]:
    """Return the JSON object of ``suphx bench selfplay``.

    ``ratio`` is the end-to-end rate over ``ideal_decisions_per_second``, what the cores could do if they did nothing
    but rules, planes and nets, each as fast as one that works alone; ``ratio_to_all_cores`` that over what the cores
    really do then, all at a time (null with a GPU). ValueError for an unknown encoder and for cuda where there is none.
    """
    policy_set = case.policy_set()
    alone = measure_alone(case, policy_set, say)
    all_cores = None
    if not alone.is_on_gpu:
        say("measuring rules, planes and nets alone on all cores")
        all_cores = all_cores_rate(case)
    say("measuring self-play end to end")
    if not case.on_ray:
        return describe(case, alone, all_cores, play_in_threads(case, policy_set))
    # Ray takes seconds to import: only when it is needed.
    from suphx_platform.bench.selfplay_ray import play_over_ray

    return describe(case, alone, all_cores, play_over_ray(case, policy_set))


def describe(case: SelfplayCase, alone: Alone, all_cores: float | None, together: Together) -> dict[str, object]:
    """Return all measurements and how they compare."""
    rate, ideal = together.decisions_per_second, alone.ideal(case.num_cores)
    pipelined = alone.pipelined(case.num_cores, case.num_simulators, case.num_engines)
    return {
        **asdict(together),
        "hanchans_per_second": rate / alone.decisions_per_hanchan,
        "ideal_decisions_per_second": ideal,
        "ratio": rate / ideal,
        "all_cores_decisions_per_second": all_cores,
        "ratio_to_all_cores": rate / all_cores if all_cores else None,
        "pipelined_decisions_per_second": pipelined,
        "ratio_to_pipelined": rate / pipelined,
        "alone": asdict(alone),
        "case": asdict(case),
    }


def play_in_threads(case: SelfplayCase, policy_set: PolicySet) -> Together:
    """Let every simulator play in a thread of its own and every engine answer in another."""
    engines = [case.engine(policy_set) for _ in range(case.num_engines)]
    buffer = _MeasuredBuffer()
    with ExitStack() as stack:
        local = [LocalEngine(engine) for engine in engines]
        for engine in local:
            stack.callback(engine.close)
        simulators = [
            _MeasuredSimulator(case, index, local[index % len(local)], buffer) for index in range(case.num_simulators)
        ]
        stop = threading.Event()
        pool = stack.enter_context(ThreadPoolExecutor(len(simulators)))
        wait([pool.submit(simulator.begin) for simulator in simulators])
        playing = [pool.submit(simulator.play, stop) for simulator in simulators]
        before = _count(simulators, engines, buffer)
        wait(playing, case.seconds, FIRST_COMPLETED)  # they play until they are told to stop, or fail
        after = _count(simulators, engines, buffer)
        stop.set()
        for future in playing:
            future.result()
    spent = {name: after[name] - before[name] for name in after}
    return together(
        case,
        spent,
        cores_used={"process": spent["cpu_seconds"] / spent["seconds"]},
        memory_peak_bytes={"process": peak_bytes()},
    )


class _MeasuredBuffer:
    """A replay buffer whose batches nobody learns from."""

    def __init__(self) -> None:
        self._buffer = ReplayBuffer(ReplayBufferConfig(), (DISCARD_HEAD,))
        self._lock = threading.Lock()
        self.busy_seconds = 0.0
        self.num_fragments = self.num_bytes = 0

    def add(self, parts: list[Decisions]) -> None:
        with self._lock:
            started = time.monotonic()
            while not self._buffer.add(parts):
                assert self._buffer.take(0) is not None, "what comes in at a time fits"
            while self._buffer.take(0) is not None:
                pass
            self.busy_seconds += time.monotonic() - started
            self.num_fragments += 1
            self.num_bytes += sum(part.num_bytes for part in parts)


class _MeasuredSimulator:
    """A simulator that fills a buffer, and knows how long it waited."""

    def __init__(self, case: SelfplayCase, index: int, engine: EnginePort, buffer: _MeasuredBuffer) -> None:
        self._simulator = SelfPlaySimulator(SimulatorConfig(num_tables=case.num_tables), case.context(index), engine)
        self._steps = case.rollout_fragment_length
        self._buffer = buffer
        self.seconds = self.waited_seconds = 0.0

    def begin(self) -> None:
        """Play until the deals of all tables are at different points."""
        self._simulator.play(FIRST_STEPS)

    def play(self, stop: threading.Event) -> None:
        while not stop.is_set():
            played = self._simulator.play(self._steps)
            self.seconds += played.seconds
            self.waited_seconds += played.waited_seconds
            self._buffer.add(played.decisions)


def _count(
    simulators: list[_MeasuredSimulator], engines: list[InferenceEngine], buffer: _MeasuredBuffer
) -> dict[str, float]:
    """Return what has come together since the beginning."""
    return {
        "seconds": time.monotonic(),
        "cpu_seconds": time.process_time(),
        **{name: sum(getattr(engine.counts, name) for engine in engines) for name in COUNTS},
        "playing_seconds": sum(simulator.seconds for simulator in simulators),
        "waited_seconds": sum(simulator.waited_seconds for simulator in simulators),
        "trajectory_bytes": buffer.num_bytes,
        "fragments": buffer.num_fragments,
        "buffer_seconds": buffer.busy_seconds,
    }
