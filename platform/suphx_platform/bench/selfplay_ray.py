"""Self-play whose simulators, engines and buffer are Ray's processes, on this machine; nobody learns."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import psutil
import ray

from suphx.selfplay.agents.policy_set import PolicySet
from suphx.selfplay.backend import Learned, Played
from suphx.selfplay.config import ReplayBufferConfig, SimulatorConfig
from suphx.selfplay.layout import RayLayoutConfig
from suphx.training.local_backend import SelfPlay
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx_platform.bench.selfplay import COUNTS, FIRST_STEPS, SelfplayCase, together
from suphx_platform.ray.backend import ray_backend
from suphx_platform.ray.parts import policy_gradient_parts
from suphx_platform.ray.process import Health, cpu_seconds, peak_bytes

_NEVER = 1_000_000_000


def play_over_ray(case: SelfplayCase, policy_set: PolicySet) -> dict[str, Any]:
    """Let simulators and engines play for the seconds of ``case``, as a run would have them."""
    driver = _Driver(case, policy_set)
    try:
        num_fragments = case.num_simulators * -(-FIRST_STEPS // case.rollout_fragment_length)
        driver.work(until=lambda: driver.num_fragments > num_fragments)
        before, processes = driver.counts(), driver.cpu_seconds()
        end = time.monotonic() + case.seconds
        driver.work(until=lambda: time.monotonic() > end)
        after, later = driver.counts(), driver.cpu_seconds()
        spent = {name: after[name] - before[name] for name in after}
        busy = {name: later[name] - processes[name] for name in later}
        spent |= {"buffer_seconds": busy["buffer"], "driver_seconds": busy["driver"]}
        cores_used = {name: seconds / spent["seconds"] for name, seconds in busy.items()}
        return together(case, spent, cores_used=cores_used, memory_peak_bytes=driver.memory_peak_bytes())
    finally:
        driver.backend.close()


class DroppingLearner:
    """Takes batches, counts them and learns nothing; in the place of a ``Learner``."""

    def __init__(self, server: str, room: str) -> None:
        self.num_updates = 0

    def learn(self, parts: Any, staleness: float) -> Learned:
        """Count a batch."""
        self.num_updates += 1
        return Learned(self.num_updates, {}, 0.0)

    def weights(self) -> dict[str, Any]:
        """Return none."""
        return {}

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return no tensors, and the count."""
        return {}, {"num_updates": self.num_updates}


class _Driver:
    """Does what the loop of a run does, with a learner that drops its batches."""

    def __init__(self, case: SelfplayCase, policy_set: PolicySet) -> None:
        cluster = RayLayoutConfig(
            on_ray=True,
            num_simulators=case.num_simulators,
            num_engines=case.num_engines,
            gpus_per_engine=1 / case.num_engines if case.device == "cuda" and case.num_engines else 0,
        )
        config = ReinforcementConfig(
            cluster=cluster,
            rollout_fragment_length=case.rollout_fragment_length,
            simulator=SimulatorConfig(num_tables=case.num_tables),
            engine=case.engine_config,
            buffer=ReplayBufferConfig(capacity_bytes=2**29),
        )
        play = SelfPlay(start=policy_set, weak=policy_set, encoder=case.encoder, rules_version="", seed=case.seed)
        parts = replace(
            policy_gradient_parts(config, play), new_learner=cast("Any", DroppingLearner), publish_every=_NEVER
        )
        self.backend = ray_backend(parts)
        self._decisions_a_fragment = case.num_tables * case.rollout_fragment_length
        self._played: list[Played] = []

    @property
    def num_fragments(self) -> float:
        """How often simulators have handed over decisions."""
        return sum(played.num_decisions for played in self._played) / self._decisions_a_fragment

    def work(self, *, until: Callable[[], bool]) -> None:
        """Give everybody something to do; raise whatever breaks."""
        while not until():
            for event in self.backend.advance():
                if isinstance(event, Played):
                    self._played.append(event)
                elif not isinstance(event, Learned):
                    raise RuntimeError(f"the measurement is invalid: {event}")

    def counts(self) -> dict[str, float]:
        """Return what has come together since the beginning."""
        engines = [health.counts for health in self._ask("engine") or self._ask("simulator")]
        statuses = [health.status for health in self._ask("buffer")]
        rows = sum(status.num_decisions for status in statuses)
        bytes_a_decision = sum(status.num_bytes for status in statuses) / max(rows, 1)
        return {
            "seconds": time.monotonic(),
            **{name: sum(getattr(counts, name) for counts in engines) for name in COUNTS},
            "fragments": self.num_fragments,
            "playing_seconds": sum(played.seconds for played in self._played),
            "waited_seconds": sum(played.waited_seconds for played in self._played),
            "trajectory_bytes": sum(status.counts.added for status in statuses) * bytes_a_decision,
        }

    def cpu_seconds(self) -> dict[str, float]:
        """Return the CPU time of all processes by kind."""
        kinds = ("simulator", "engine", "buffer", "server")
        seconds = {kind: sum(cpu_seconds(health.process) for health in self._ask(kind)) for kind in kinds}
        raylets = [child.pid for child in psutil.Process().children() if child.name() == "raylet"]
        return seconds | {"driver": cpu_seconds(os.getpid()), "raylet": sum(map(cpu_seconds, raylets))}

    def memory_peak_bytes(self) -> dict[str, int]:
        """Return the peak of the largest process of each kind, and the private memory of the largest simulator."""
        peaks = {
            kind: max((peak_bytes(health.process) for health in self._ask(kind)), default=0)
            for kind in ("simulator", "engine", "buffer")
        }
        return peaks | {"simulator_private": max(health.memory_bytes for health in self._ask("simulator"))}

    def _ask(self, kind: str) -> list[Any]:
        actors = self.backend.actors
        asked: list[Health] = ray.get(
            [actor.health.remote() for name, actor in actors.items() if name.split()[0] == kind]
        )
        return asked
