"""How a simulator asks inference engines, other processes, some of which may be dead, hang or not be here yet."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import Any

import ray

from suphx.experience.observation import Observations, PolicyOutputs
from suphx.experience.sparse_planes import SparseObservations
from suphx.selfplay.layout import RayLayoutConfig
from suphx_platform.ray.process import CALL_ERRORS, Peer, PeerLostError

_BACK_OFF_SECONDS = 0.2
_AVOID_SECONDS = 30.0
_LEAST_SECONDS = 1.0
"""Time for a reply to get here after its engine had all the time that it may take: it may have come meanwhile."""


class EngineClient:
    """Consumes: requests. Produces: outputs. Waits for: its own engine; another one if that is dead or hangs.

    An engine that has left a request unanswered is asked again when that reply has come, so that one without a node
    stalls nobody twice. A request may be answered twice, once by an engine that was given up.
    """

    def __init__(self, engines: Sequence[Peer], index: int, config: RayLayoutConfig) -> None:
        """``index``: of the simulator; it asks engine ``index`` modulo their number as long as that answers."""
        self._engines = engines
        self.num_engines = len(engines)
        self.hang_seconds = config.hang_seconds
        """How long to wait for one engine."""
        self._home = index % len(engines)
        self._avoided_until = [0.0] * len(engines)
        self._awaited: dict[int, Any] = {}
        """By engine that does not answer: the reference of a reply that was given up, and has not come yet."""

    def submit(self, request: Sequence[Observations]) -> RemoteReply:
        """Send a request and return at once."""
        return RemoteReply(self, [SparseObservations.of(part) for part in request])

    def best(self, tried: Collection[int] = ()) -> int:
        """Return the number of the engine to ask now.

        It is not one that does not answer, and not one that was ``tried``, as long as there are others.
        """
        now = time.monotonic()
        order = [(self._home + step) % len(self._engines) for step in range(len(self._engines))]
        silent = self._silent()
        return min(order, key=lambda n: (n in silent, n in tried, max(self._avoided_until[n], now)))

    def has_other(self, tried: Collection[int]) -> bool:
        """Tell whether an engine that answers was not ``tried``."""
        return len(self._silent().union(tried)) < len(self._engines)

    def send(self, engine: int, request: Sequence[SparseObservations]) -> Any:
        """Return the reference of the reply of an engine; None while there is none of its name."""
        try:
            return self._engines[engine].call("evaluate", request)
        except PeerLostError:
            return None

    def avoid(self, engine: int, unanswered: Any = None) -> None:
        """Ask others for a while; as long as the reply has not come for which ``unanswered`` stands, if it is given."""
        self._avoided_until[engine] = time.monotonic() + _AVOID_SECONDS
        self._engines[engine].forget()  # another actor may get the name
        if unanswered is not None:
            self._awaited[engine] = unanswered

    def _silent(self) -> set[int]:
        """Return the engines that do not answer; forget those that have answered, or died, since they were given up."""
        for engine, reference in list(self._awaited.items()):
            if ray.wait([reference], timeout=0, fetch_local=False)[0]:
                del self._awaited[engine]
        return set(self._awaited)


class RemoteReply:
    """A reply that is on its way from an engine in another process."""

    def __init__(self, client: EngineClient, request: Sequence[SparseObservations]) -> None:
        self._client = client
        self._request = request
        self._tried = set[int]()
        """Engines that have not answered this request; all are asked before one is asked again."""
        self._references: dict[int, Any] = {}
        """By engine: no engine gets this request twice, unless it has lost it."""
        self._ask()

    def result(self) -> list[PolicyOutputs]:
        """Wait for it, as long as no node has room for an engine; ask again where one dies, hangs or fails.

        Raises the error of an engine if all that answer were asked.
        """
        failed: ray.exceptions.RayTaskError | None = None
        while True:
            reference = self._references[self._engine]
            seconds = max(_LEAST_SECONDS, self._ends_at - time.monotonic())
            try:
                if reference is None:
                    raise PeerLostError
                outputs = ray.get(reference, timeout=seconds)
            except ray.exceptions.GetTimeoutError:
                self._client.avoid(self._engine, unanswered=reference)
            except (*CALL_ERRORS, PeerLostError) as error:
                self._client.avoid(self._engine)
                del self._references[self._engine]
                failed = error if isinstance(error, ray.exceptions.RayTaskError) else failed
            else:
                # Kernels write nothing there, but are compiled for arrays that could be written to.
                return [part.copied() for part in outputs]
            self._tried.add(self._engine)
            if failed is not None and not self._client.has_other(self._tried):
                raise failed
            if len(self._tried) == self._client.num_engines:
                self._tried.clear()
            time.sleep(_BACK_OFF_SECONDS)
            self._ask()

    def _ask(self) -> None:
        self._engine = self._client.best(self._tried)
        if self._engine not in self._references:
            self._references[self._engine] = self._client.send(self._engine, self._request)
        self._ends_at = time.monotonic() + self._client.hang_seconds
