"""Self-play whose simulators, engines and buffer are Ray's processes, on this machine; nobody learns."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import psutil
import ray

from suphx.games.riichi.features.head import DISCARD_HEAD
from suphx.selfplay.agents.policy_set import PolicySet
from suphx.selfplay.backend import Played
from suphx.selfplay.buffer import BufferStatus
from suphx.selfplay.config import ReplayBufferConfig, SimulatorConfig
from suphx.selfplay.layout import RayLayoutConfig
from suphx.selfplay.weights import PolicyVersion
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx_platform.bench.riichi.selfplay.end_to_end import COUNTS, Together, together
from suphx_platform.bench.riichi.selfplay.selfplay_alone import FIRST_STEPS, SelfplayCase
from suphx_platform.on_ray.actor.process_memory import cpu_seconds, peak_bytes
from suphx_platform.on_ray.actor.ray_actor import Health
from suphx_platform.on_ray.ray_session import ray_session
from suphx_platform.on_ray.simulator_group import Shard, SimulatorGroup
from suphx_platform.on_ray.supervision.actor_supervisor import ActorSupervisor, cause_of
from suphx_platform.on_ray.supervision.in_flight_calls import InFlightCall
from suphx_platform.on_ray.topology import Topology, local_needs

_WAIT_SECONDS = 0.1
_LOST_SECONDS = 600.0


def play_over_ray(case: SelfplayCase, policy_set: PolicySet) -> Together:
    """Let simulators and engines play for the seconds of ``case``, as a run would have them."""
    config = _config(case)
    with ExitStack() as stack:
        stack.enter_context(ray_session(**local_needs(config)))
        driver = _Driver(config, case, policy_set)
        stack.callback(driver.end)
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


def _config(case: SelfplayCase) -> ReinforcementConfig:
    cluster = RayLayoutConfig(
        on_ray=True,
        num_simulators=case.num_simulators,
        num_engines=case.num_engines,
        gpus_per_engine=1 / case.num_engines if case.device == "cuda" and case.num_engines else 0,
    )
    return ReinforcementConfig(
        cluster=cluster,
        rollout_fragment_length=case.rollout_fragment_length,
        simulator=SimulatorConfig(num_tables=case.num_tables),
        engine=case.engine_config,
        buffer=ReplayBufferConfig(capacity_bytes=2**29),
    )


class _Driver:
    """Does what the loop of a run does, without a learner: batches are taken and dropped."""

    def __init__(self, config: ReinforcementConfig, case: SelfplayCase, policy_set: PolicySet) -> None:
        self._topology = Topology(config, case.context())
        ray.kill(self._topology.learner)
        self._parts = {name: part for name, part in self._topology.parts().items() if name != "learner"}
        self._supervisor = ActorSupervisor(config.cluster, self._parts)
        self._simulators = SimulatorGroup(config, self._topology, self._supervisor)
        self._is_taking = False
        self._played: list[Played] = []
        self._bytes_a_decision = 0.0  # in a buffer
        first = PolicyVersion(0, [ray.put(policy_set.weights([DISCARD_HEAD]))])
        self._topology.server.begin.remote([ray.put(policy_set)] * 2, first, [first])
        self._simulators.begin(None)

    @property
    def num_fragments(self) -> int:
        """How often simulators have handed over decisions."""
        return len(self._played)

    def work(self, *, until: Callable[[], bool]) -> None:
        """Give everybody something to do; raise whatever breaks."""
        while not until():
            self._supervisor.work()
            self._simulators.work(may_play=True)
            self._take()
            self._supervisor.calls.wait(_WAIT_SECONDS)
            for event in self._supervisor.events():
                if not isinstance(event, Played):
                    raise RuntimeError(f"the measurement is invalid: {event}")
                self._played.append(event)

    def counts(self) -> dict[str, float]:
        """Return what has come together since the beginning."""
        engines = [health.counts for health in self._ask("engine") or self._ask("simulator")]
        return {
            "seconds": time.monotonic(),
            **{name: sum(getattr(counts, name) for counts in engines) for name in COUNTS},
            "fragments": len(self._played),
            "playing_seconds": sum(played.seconds for played in self._played),
            "waited_seconds": sum(played.waited_seconds for played in self._played),
            "trajectory_bytes": self._simulators.counts.added * self._bytes_a_decision,
        }

    def cpu_seconds(self) -> dict[str, float]:
        """Return the CPU time of all processes by kind."""
        kinds = ("simulator", "engine", "buffer", "server")
        seconds = {kind: sum(cpu_seconds(health.process) for health in self._ask(kind)) for kind in kinds}
        return seconds | {"driver": cpu_seconds(os.getpid()), "raylet": sum(map(cpu_seconds, _raylets()))}

    def memory_peak_bytes(self) -> dict[str, int]:
        """Return the peak of the largest process of each kind, and the private memory of the largest simulator."""
        peaks = {
            kind: max((peak_bytes(health.process) for health in self._ask(kind)), default=0)
            for kind in ("simulator", "engine", "buffer")
        }
        return peaks | {"simulator_private": max(health.memory_bytes for health in self._ask("simulator"))}

    def end(self) -> None:
        """End all actors."""
        for part in self._parts.values():
            ray.kill(part)

    def _ask(self, kind: str) -> list[Any]:
        asked: list[Health] = ray.get(
            [part.health.remote() for name, part in self._parts.items() if name.split()[0] == kind]
        )
        return asked

    def _take(self) -> None:
        """Take a batch of a shard that has one."""
        shard = None if self._is_taking else self._simulators.next_ready()
        if shard is None:
            return
        self._is_taking = True
        report, _ = shard.actor.take.remote(0)
        call = InFlightCall(
            part=shard.part, actor=shard.actor, on_result=self._taken(shard), on_error=_raise, seconds=_LOST_SECONDS
        )
        self._supervisor.calls.add(report, call)

    def _taken(self, shard: Shard) -> Callable[[tuple[float | None, BufferStatus]], None]:
        def on_result(answer: tuple[float | None, BufferStatus]) -> None:
            self._is_taking = False
            status = answer[1]
            self._simulators.note_status(shard, status, has_given=True)
            if status.num_decisions:
                self._bytes_a_decision = status.num_bytes / status.num_decisions

        return on_result


def _raylets() -> list[int]:
    """Return the numbers of the processes by which Ray moves objects, as far as this process began them."""
    return [child.pid for child in psutil.Process().children() if child.name() == "raylet"]


def _raise(error: Exception) -> None:
    raise cause_of(error)
