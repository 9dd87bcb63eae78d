"""Self-play without learning: end to end, as a run plays in one process or over Ray, and what its parts take alone."""

from __future__ import annotations

import itertools
import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing.synchronize import Barrier
from typing import Any

import numpy as np
import torch

from suphx.games.learning import LearningConfig
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.names import DISCARD_HEAD, HEAD_NAMES
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.selfplay.table_group import TableGroup
from suphx.models.device import find_device, torch_threads
from suphx.models.inference import InferenceNet
from suphx.models.net_config import DeviceName, NetConfig, Size
from suphx.selfplay.agents.policy_set import PolicySet, random_policy_set
from suphx.selfplay.buffer import ReplayBuffer
from suphx.selfplay.config import InferenceEngineConfig, Nets, ReplayBufferConfig, SimulatorConfig
from suphx.selfplay.engine import InferenceEngine, LocalEngine
from suphx.selfplay.requests import Request
from suphx.selfplay.simulator import SelfPlaySimulator, SimulatorContext
from suphx.worker_interrupt import become_worker, starting_workers
from suphx_platform.ray.process import peak_bytes

FIRST_STEPS = 100  # then deals of all tables are at different points
_NUM_REQUESTS = 32  # that are kept for the nets alone
_WHOLE_GAMES = 48
_START_SECONDS = 300.0
_barrier: list[Barrier] = []  # of a worker process, set as it starts


def bench_selfplay(
    case: SelfplayCase, play: Callable[[SelfplayCase, PolicySet], dict[str, Any]], *, say: Callable[[str], None]
) -> dict[str, object]:
    """Return the JSON object of ``suphx bench selfplay``; ``play``: ``play_here``, or ``play_over_ray``.

    ``ratio`` is the end-to-end rate over ``ideal_decisions_per_second``, what the cores could do if they did nothing
    but rules, planes and nets, each as fast as one that works alone; ``ratio_to_all_cores`` that over what the cores
    really do then, all at a time (null with a GPU). ValueError for an unknown encoder and for cuda where there is none.
    """
    policy_set = case.policy_set()
    alone = measure_alone(case, policy_set, say)
    all_cores = None
    if not alone.is_on_gpu:
        say("measuring rules, planes and nets alone on all cores")
        all_cores = all_cores_rate(case, policy_set)
    say("measuring self-play end to end")
    played = play(case, policy_set)
    rate, ideal = played["decisions_per_second"], alone.ideal(case.num_cores)
    return {
        **played,
        "hanchans_per_second": rate / alone.decisions_per_hanchan,
        "ideal_decisions_per_second": ideal,
        "ratio": rate / ideal,
        "all_cores_decisions_per_second": all_cores,
        "ratio_to_all_cores": rate / all_cores if all_cores else None,
        "alone": asdict(alone),
        "case": asdict(case),
    }


def all_cores_rate(case: SelfplayCase, policy_set: PolicySet) -> float:
    """Return the decisions a second of ``case.num_cores`` processes that play at a time and hand nothing over.

    RuntimeError (BrokenBarrierError) if they have not all started within five minutes.
    """
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(case.num_cores)
    with ProcessPoolExecutor(case.num_cores, context, initializer=_begin, initargs=(barrier,)) as pool:
        with starting_workers():
            rates = pool.map(partial(_play_alone, case), [policy_set] * case.num_cores)
        return sum(rates)


def _begin(barrier: Barrier) -> None:
    become_worker()
    _barrier.append(barrier)


def _play_alone(case: SelfplayCase, policy_set: PolicySet) -> float:
    with torch_threads(1):
        engine = case.engine(policy_set)
        turns = take_turns(case, engine)
        _barrier[0].wait(_START_SECONDS)
        num_decisions, started = 0, time.monotonic()
        while time.monotonic() - started < case.seconds:
            group = next(turns)
            num_decisions += group.step(engine.evaluate(group.observe())).num_decisions
        return num_decisions / (time.monotonic() - started)


def play_here(case: SelfplayCase, policy_set: PolicySet) -> dict[str, Any]:
    """Play in this process as a run does; batches are taken from the buffer and dropped."""
    engine, buffer = case.engine(policy_set), ReplayBuffer(ReplayBufferConfig(), (DISCARD_HEAD,))
    with closing(LocalEngine(engine)) as local:
        simulator = SelfPlaySimulator(SimulatorConfig(num_tables=case.num_tables), case.context(), local)
        simulator.play(FIRST_STEPS)
        counts = asdict(engine.counts)
        names = ("fragments", "playing_seconds", "waited_seconds", "trajectory_bytes", "buffer_seconds")
        spent = dict.fromkeys(names, 0.0)
        started, cpu = time.monotonic(), time.process_time()
        while time.monotonic() - started < case.seconds:
            played = simulator.play(case.rollout_fragment_length)
            handed_over = time.monotonic()
            while not buffer.add(played.decisions):
                buffer.take(0)
            while buffer.take(0) is not None:
                pass
            spent["buffer_seconds"] += time.monotonic() - handed_over
            spent["fragments"] += 1
            spent["playing_seconds"] += played.seconds
            spent["waited_seconds"] += played.waited_seconds
            spent["trajectory_bytes"] += sum(part.nbytes for part in played.decisions)
        seconds, cpu = time.monotonic() - started, time.process_time() - cpu
    spent |= {name: value - counts[name] for name, value in asdict(engine.counts).items()}
    cores, memory = {"process": cpu / seconds}, {"process": peak_bytes()}
    return together(case, {**spent, "seconds": seconds}, cores_used=cores, memory_peak_bytes=memory)


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfplayCase:
    """What is measured."""

    encoder: str = "suphx"
    size: Size = "tiny"
    nets: Nets = "policy"
    num_tables: int = 512
    num_simulators: int
    num_engines: int
    num_cores: int
    device: DeviceName
    on_ray: bool = False
    """Simulators, engines and a buffer are processes; else there is one of each in this process, as in a run."""
    rollout_fragment_length: int = 16
    """Decisions of every table between two additions to the buffer."""
    seconds: float
    seed: int = 0

    def context(self, index: int = 0) -> SimulatorContext:
        """Return what tells a simulator from the others."""
        return SimulatorContext(
            game="riichi", encoder=self.encoder, heads=(DISCARD_HEAD,), run_seed=self.seed, index=index
        )

    def policy_set(self) -> PolicySet:
        """Return untrained nets."""
        return random_policy_set(self.encoder, NetConfig(size=self.size), self.seed, game="riichi")

    @property
    def engine_config(self) -> InferenceEngineConfig:
        """How engines answer."""
        return InferenceEngineConfig(nets=self.nets, device=self.device)

    def engine(self, policy_set: PolicySet) -> InferenceEngine:
        """Return a new engine, in which only the nets of discards learn."""
        return InferenceEngine(self.engine_config, policy_set, policy_set, heads=(DISCARD_HEAD,))


@dataclass(frozen=True, slots=True)
class HeadCost:
    """What one net costs."""

    observations_per_decision: float
    mean_batch: float
    observations_per_second: float
    """At the batches that really occur; 0 without nets."""


@dataclass(frozen=True, slots=True)
class Alone:
    """Costs of a decision."""

    simulator_seconds: float
    """Of a core: rules and planes."""
    forward_seconds: float
    """Of a core, or of the GPU: all nets."""
    heads: dict[str, HeadCost]
    decisions_per_hanchan: float
    is_on_gpu: bool

    def ideal(self, num_cores: int) -> float:
        """Return the decisions a second if all cores (and the GPU) did nothing else, all of the time."""
        if self.is_on_gpu:
            return min(num_cores / self.simulator_seconds, 1 / max(self.forward_seconds, 1e-12))
        return num_cores / (self.simulator_seconds + self.forward_seconds)


def measure_alone(case: SelfplayCase, policy_set: PolicySet, say: Callable[[str], None]) -> Alone:
    """Measure the parts of ``case`` one after another, in CPU time of one thread (a GPU: by the clock)."""
    say("making the nets")
    engine = case.engine(policy_set)
    device = find_device(case.device)
    with torch_threads(1):
        say("playing whole games to measure their length")
        per_hanchan = _decisions_per_hanchan(case, engine)
        say("measuring rules and planes alone")
        simulator_seconds, rows, requests = _simulate(case, engine)
        say("measuring the nets alone")
        heads = {}
        for head, name in enumerate(HEAD_NAMES):
            batches = [part.planes for request in requests for part in request if part.decision == head]
            if batches:
                is_null = case.nets == "null"
                rate = 0.0 if is_null else _forward_rate(policy_set, head, batches, device, case.seconds / 5)
                heads[name] = HeadCost(rows[head], float(np.mean([len(batch) for batch in batches])), rate)
    costs = [one for one in heads.values() if one.observations_per_second]
    forward_seconds = sum(one.observations_per_decision / one.observations_per_second for one in costs)
    return Alone(simulator_seconds, forward_seconds, heads, per_hanchan, device.type == "cuda")


def take_turns(case: SelfplayCase, engine: InferenceEngine) -> Iterator[TableGroup]:
    """Return two halves of the tables by turns, as in a simulator; their deals are at different points."""
    halves = [_new_group(case, case.num_tables // 2, FIRST_STEPS) for _ in range(2)]
    for group in halves:
        for _ in range(FIRST_STEPS):
            group.step(engine.evaluate(group.observe()))
    return itertools.cycle(halves)


def _simulate(case: SelfplayCase, engine: InferenceEngine) -> tuple[float, np.ndarray, list[Request]]:
    """Return CPU seconds of a decision for rules and planes alone, rows of a decision by head, and some requests."""
    turns = take_turns(case, engine)
    rows, num_decisions, spent = np.zeros(len(HEAD_NAMES)), 0, 0.0
    requests: list[Request] = []
    end = time.monotonic() + case.seconds
    while time.monotonic() < end or not requests:
        group = next(turns)
        started = time.thread_time()
        request = group.observe()
        spent += time.thread_time() - started
        outputs = engine.evaluate(request)
        started = time.thread_time()
        num_decisions += group.step(outputs).num_decisions
        spent += time.thread_time() - started
        for part in request:
            rows[part.decision] += len(part.planes)
        if len(requests) < _NUM_REQUESTS:
            requests.append(request)
    return spent / num_decisions, rows / num_decisions, requests


def _decisions_per_hanchan(case: SelfplayCase, engine: InferenceEngine) -> float:
    """Play the first games of some tables to their ends."""
    group = _new_group(case, _WHOLE_GAMES, 1)
    lengths: dict[int, int] = {}
    num_steps = 0
    while len(lengths) < _WHOLE_GAMES:
        kyokus = group.step(engine.evaluate(group.observe())).ends
        num_steps += 1
        for table in kyokus.tables[kyokus.placements.any(axis=1)]:
            lengths.setdefault(int(table), num_steps)
    return float(np.mean(list(lengths.values())))


def _new_group(case: SelfplayCase, num_tables: int, first_steps: int) -> TableGroup:
    config = LearningConfig(num_tables=num_tables, learned=(), first_steps=first_steps)
    return TableGroup(config, find_encoder(case.encoder), tenhou(), first_seed=(3 << 59) + (case.seed << 32))


def _forward_rate(
    policy_set: PolicySet, head: int, batches: Sequence[np.ndarray], device: torch.device, seconds: float
) -> float:
    """Return the rows a second of one net over ``batches``, again and again."""
    net = InferenceNet(policy_set.net(head), device)
    clock = time.perf_counter if device.type == "cuda" else time.thread_time
    tensors = [torch.from_numpy(batch) for batch in batches]
    for tensor in tensors:
        net(tensor).cpu()
    num_rows, started, end = 0, clock(), time.monotonic() + seconds
    while time.monotonic() < end or not num_rows:
        for tensor in tensors:
            net(tensor).cpu()
            num_rows += len(tensor)
    return num_rows / (clock() - started)


COUNTS = ("requests", "observations", "request_bytes", "reply_bytes", "busy_seconds")


def together(
    case: SelfplayCase, spent: Mapping[str, float], *, cores_used: dict[str, float], memory_peak_bytes: dict[str, int]
) -> dict[str, Any]:
    """Return what comes of sums ``spent`` over the measured time, as docs/measuring.md explains it."""
    num_decisions = spent["requests"] * (case.num_tables // 2)  # every table of a half asks each time
    names = ("request", "reply", "trajectory")
    seconds = spent["seconds"]
    if not num_decisions:
        raise ValueError(f"no decision was made in {seconds:.3g} s: measure longer, with --seconds")
    return {
        "decisions_per_second": num_decisions / seconds,
        "observations_per_second": spent["observations"] / seconds,
        "messages_per_second": {name: spent[name] / seconds for name in ("requests", "fragments")},
        "cpu_seconds": sum(cores_used.values()) * seconds / num_decisions,
        "cores_used": cores_used,
        "waiting_shares": {
            "simulators": spent["waited_seconds"] / max(spent["playing_seconds"], 1e-9),
            "engines": 1 - spent["busy_seconds"] / (seconds * (case.num_engines or case.num_simulators)),
            "buffer": 1 - spent["buffer_seconds"] / seconds,
            "driver": 1 - spent["driver_seconds"] / seconds if "driver_seconds" in spent else None,
            "learner": None,
        },
        "bytes_per_decision": {name: spent[f"{name}_bytes"] / num_decisions for name in names},
        "memory_peak_bytes": memory_peak_bytes,
    }
