"""How a simulator asks inference engines that are other processes, some of which may be dead or hang."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import Any

import ray

from suphx.experience.observation import Observations, PolicyOutputs
from suphx.experience.sparse_observations import SparseObservations
from suphx_platform.parts.ray_layout_config import RayLayoutConfig

_BACK_OFF_SECONDS = 0.2
_AVOID_SECONDS = 30.0


class EngineClient:
    """Consumes: requests. Produces: outputs. Waits for: its own engine; another one if that is dead or hangs.

    A request may be answered twice, once by an engine that was given up: the second reply is not read.
    """

    def __init__(self, engines: Sequence[Any], index: int, config: RayLayoutConfig) -> None:
        """``index``: of the simulator; it asks engine ``index`` modulo their number as long as that answers."""
        self._engines = engines
        self._home = index % len(engines)
        self._config = config
        self._avoided_until = [0.0] * len(engines)

    def submit(self, request: Sequence[Observations]) -> RemoteReply:
        """Send a request and return at once."""
        return RemoteReply(self, [SparseObservations.of(part) for part in request])

    def send(self, request: Sequence[SparseObservations], tried: Collection[int] = ()) -> tuple[int, Any]:
        """Send a request to the engine that is best now, not to one that was ``tried`` as long as there are others.

        Return which, and the reference of its reply.
        """
        now = time.monotonic()
        order = [(self._home + step) % len(self._engines) for step in range(len(self._engines))]
        engine = min(order, key=lambda number: (number in tried, max(self._avoided_until[number], now)))
        return engine, self._engines[engine].evaluate.remote(request)

    def avoid(self, engine: int) -> None:
        """Ask others for a while."""
        self._avoided_until[engine] = time.monotonic() + _AVOID_SECONDS

    @property
    def num_engines(self) -> int:
        """How many engines there are."""
        return len(self._engines)

    @property
    def hang_seconds(self) -> float:
        """How long to wait for one engine."""
        return self._config.hang_seconds


class RemoteReply:
    """A reply that is on its way from an engine in another process."""

    def __init__(self, client: EngineClient, request: Sequence[SparseObservations]) -> None:
        self._client = client
        self._request = request
        self._tried = set[int]()
        """Engines that have not answered this request; all are asked before one is asked again."""
        self._engine, self._reference = client.send(request)

    def result(self) -> list[PolicyOutputs]:
        """Wait for it, as long as no node has room for an engine; ask again where one dies or hangs."""
        while True:
            try:
                outputs = ray.get(self._reference, timeout=self._client.hang_seconds)
            except (ray.exceptions.RayActorError, ray.exceptions.GetTimeoutError):
                self._client.avoid(self._engine)
                self._tried.add(self._engine)
                if len(self._tried) == self._client.num_engines:
                    self._tried.clear()
                time.sleep(_BACK_OFF_SECONDS)
                self._engine, self._reference = self._client.send(self._request, self._tried)
            else:
                # Kernels write nothing there, but are compiled for arrays that could be written to.
                return [part.copied() for part in outputs]
