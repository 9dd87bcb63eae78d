"""What runs in the processes of Ray that play: a thin wrapper around ``GamePlayer``.

Ray starts a dead one again where there is room. It then has no agents, and refuses to work until it is told to
``begin`` (RestartedError).
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import ray

from suphx.cache_folder import cache_root, is_writable
from suphx.evaluation.workers.play_plan import PlayPlan
from suphx_platform.console.console import Console
from suphx_platform.evaluation.game_player import Exchange, GamePlayer, NumberedTask
from suphx_platform.evaluation.packed_agents import PackedAgents
from suphx_platform.kernels.kernel_warmup import compile_kernels

_LOCK = "match-kernels.lock"


class RestartedError(RuntimeError):
    """The process has ended and another one is in its place, which has no agents: tell it to begin."""


@dataclass(frozen=True, slots=True)
class ProcessLocation:
    """Where a process runs."""

    node: str
    """Address of the machine."""
    process: int

    def __str__(self) -> str:
        return f"process {self.process} on {self.node}"


class GameActor:
    """Plays tasks once it has been told by which plan."""

    def __init__(self) -> None:
        self._player: GamePlayer | None = None

    @ray.method(max_task_retries=1)
    def begin(self, plan: PlayPlan, packed: PackedAgents) -> ProcessLocation:
        """Load the agents of a plan, whatever it had before; the first process of a node compiles the kernels.

        ValueError names the node.
        """
        location = ProcessLocation(ray.util.get_node_ip_address(), os.getpid())
        _compile_once(plan)
        try:
            with packed.unpacked() as addresses:
                agents = replace(cast("Any", plan), addresses=addresses).load_agents()
        except ValueError as error:
            raise ValueError(f"on node {location.node} of the Ray cluster: {error}") from error
        if self._player is not None:
            self._player.close()
        self._player = GamePlayer(plan, agents)
        return location

    def exchange(self, tasks: Sequence[NumberedTask], is_last: bool, seconds: float) -> Exchange:
        """Take ``tasks`` and return what is finished, as ``GamePlayer.exchange``."""
        if self._player is None:
            raise RestartedError("its process was started again")
        return self._player.exchange(tasks, is_last=is_last, seconds=seconds)


def new_game_actor(needs: Mapping[str, Any]) -> Any:
    """Return an actor on any node that has what it ``needs``, far from others; Ray starts it again whenever it dies."""
    options: dict[str, Any] = {**needs, "max_restarts": -1, "scheduling_strategy": "SPREAD"}
    return ray.remote(GameActor).options(**options).remote()


def _compile_once(plan: PlayPlan) -> None:
    """Compile what games need; the processes of a node do so one after another, the first for all."""
    if not is_writable(cache_root()):  # then every process compiles what it needs
        return
    cache_root().mkdir(parents=True, exist_ok=True)
    with (cache_root() / _LOCK).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        plan.compile_kernels(partial(compile_kernels, Console(verbosity="quiet")))
