"""How many simulator pods one driver, its shards and its learner hold: real Ray, made-up fragments.

``python -m tests.suphx_platform.ray.stress --pods 1000 2000`` prints one JSON object for each number of pods: the
fragments that came through a second, the cores that each kind of process used, and what is nearest to a whole core,
which saturates first. A few processes send the messages of all pods, each with the decisions that a pod would send;
nobody plays or learns. Run it on an idle machine with a core for each process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import patch

import ray

from suphx.experience.decisions import Decisions
from suphx.selfplay.backend import Played
from suphx.selfplay.buffer import ReplayBuffer
from suphx.selfplay.config import ReplayBufferConfig
from suphx.selfplay.layout import RayLayoutConfig
from suphx_platform.bench.selfplay_ray import DroppingLearner
from suphx_platform.ray.backend import _AHEAD, FreeBackend
from suphx_platform.ray.parts import RunParts
from suphx_platform.ray.process import RayActor, cpu_seconds
from suphx_platform.ray.topology import Topology, new_ray_actor
from tests.training.decision_batch import decisions

_NEVER = 1_000_000_000


class Pods(RayActor):
    """One process that sends the messages of many simulator pods."""

    def __init__(self, shards: Sequence[str], fragments_per_second: float, num_decisions: int) -> None:
        self._shards = [ray.get_actor(name) for name in shards]
        self._pause, self._turn = _AHEAD / fragments_per_second, 0
        self._fragment: list[Decisions] = [decisions(n=num_decisions)]

    async def begin(self, number: int, version: int, state: None = None) -> None:
        """Do nothing."""

    async def play(self, order: int, version: int, seconds: float) -> Played:
        """Send the fragments of one pod for ``seconds``; wait for room as a pod does.

        A pod does one call after another, this process all at once: each sends the more slowly, and for longer.
        """
        started, count = time.monotonic(), 0
        while time.monotonic() < started + _AHEAD * seconds:
            await asyncio.sleep(self._pause)
            self._turn += 1
            shard = self._shards[self._turn % len(self._shards)]
            while await shard.add.remote(self._fragment) is None:
                await shard.room.remote(len(self._fragment[0]))
            count += 1
        return Played([], 0, 0, count * len(self._fragment[0]), time.monotonic() - started, 0.0)


class _FewProcesses(Topology):
    """A topology whose simulators are in a few processes."""

    def __init__(self, parts: RunParts, senders: int, fragments_per_second: float, num_decisions: int) -> None:
        self._senders, self._arguments = senders, (fragments_per_second, num_decisions)
        super().__init__(parts)

    def _plan(self, parts: RunParts) -> None:
        layout = parts.layout
        super()._plan(replace(parts, layout=replace(layout, num_simulators=1)))
        del self._makers["simulator 0"]
        shards = [self._name(f"buffer {number}") for number in range(layout.num_buffers)]
        processes: list[Any] = []

        def sender(number: int) -> Any:
            if len(processes) <= number:
                needs = {"num_cpus": 0, "max_concurrency": 100_000}
                processes.append(new_ray_actor(self._name(f"pods {number}"), Pods, needs, shards, *self._arguments))
            return processes[number]

        for number in range(layout.num_simulators):
            self._makers[f"simulator {number}"] = partial(sender, number % self._senders)


def _nothing(*_: Any) -> Any:
    raise NotImplementedError  # no simulator is made, whose games and engine this would be


def measure(
    pods: int, *, senders: int, shards: int, seconds: float, fragments_per_second: float, num_decisions: int
) -> dict[str, Any]:
    """Return what came through, and the cores used by kind of process."""
    layout = RayLayoutConfig(
        on_ray=True, num_simulators=pods, num_buffers=shards, num_engines=0, cpus_per_simulator=0.0
    )
    config = ReplayBufferConfig(batch_size=16_384, capacity_bytes=2**30)
    parts = RunParts(
        layout=layout,
        new_simulator=_nothing,
        new_engine=_nothing,
        new_buffer=partial(ReplayBuffer, config, [decisions().decision], max_batches=2),
        new_learner=DroppingLearner,
        first_weights={},
        steps=1,
        publish_every=_NEVER,
    )
    few = partial(
        _FewProcesses, senders=senders, fragments_per_second=fragments_per_second, num_decisions=num_decisions
    )
    with patch("suphx_platform.ray.backend.Topology", few):
        backend = FreeBackend(parts)
    try:
        while len(backend.supervisor.health) < pods or backend.is_waiting_for_parts:
            backend.advance()
        before, started = _cpu(backend), time.monotonic()
        played: list[Played] = []
        while time.monotonic() < started + seconds:
            played += [event for event in backend.advance() if isinstance(event, Played)]
        took = time.monotonic() - started
        cores = {kind: (spent - before[kind]) / took for kind, spent in _cpu(backend).items()}
    finally:
        backend.close()
    single = {kind: cores[kind] for kind in ("driver", "learner")} | {"shard": cores["buffer"] / shards}
    return {
        "pods": pods,
        "wanted_fragments_per_second": pods * fragments_per_second,
        "fragments_per_second": sum(each.num_decisions for each in played) / num_decisions / took,
        "answers_per_second": len(played) / took,
        "cores": cores,
        "saturates_first": max(single, key=lambda kind: single[kind]),
        "its_share_of_a_core": max(single.values()),
    }


def _cpu(backend: FreeBackend) -> dict[str, float]:
    kinds = ("buffer", "learner", "server", "simulator")
    processes = {
        kind: {own.process for part, own in backend.supervisor.health.items() if part.startswith(kind)}
        for kind in kinds
    }
    found = {kind: sum(map(cpu_seconds, own)) for kind, own in processes.items()}
    return found | {"driver": cpu_seconds(os.getpid())}


def main() -> None:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, nargs="+", default=[1000, 2000])
    parser.add_argument("--senders", type=int, default=4, help="processes that stand for the pods")
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--fragments-per-second", type=float, default=0.5, help="of a pod")
    parser.add_argument("--decisions", type=int, default=256, help="in a fragment")
    args = parser.parse_args()
    for pods in args.pods:
        found = measure(
            pods,
            senders=args.senders,
            shards=args.shards,
            seconds=args.seconds,
            fragments_per_second=args.fragments_per_second,
            num_decisions=args.decisions,
        )
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
