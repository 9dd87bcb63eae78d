"""The system metrics of the nodes of a Ray cluster: an actor on each measures, the driver asks them all.

Only the driver talks to MLflow, so that the nodes need neither its address nor a password.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

_WAIT_SECONDS = 5.0
_logger = logging.getLogger(__name__)


class NodeMetrics:
    """Consumes: the nodes of the cluster that this process is connected to. Produces: figures by name of the node.

    >>> metrics = NodeMetrics()
    >>> metrics()  # without Ray, or on a cluster of one node: nothing
    {}
    """

    def __init__(self) -> None:
        self._actors: dict[str, Any] = {}

    def __call__(self) -> Mapping[str, Mapping[str, float]]:
        """Return the figures of all nodes but that of this process; those that do not answer in time are left out."""
        if "ray" not in sys.modules:
            return {}
        import ray

        if not ray.is_initialized():
            self._actors = {}
            return {}
        try:
            return self._figures()
        except Exception as error:  # noqa: BLE001 - whatever a cluster raises that is about to end
            _logger.debug("system metrics of other nodes are not logged: %s", error)
            self._actors = {}
            return {}

    def _figures(self) -> Mapping[str, Mapping[str, float]]:
        import ray

        own = ray.get_runtime_context().get_node_id()
        names = {node["NodeID"]: node["NodeManagerHostname"] for node in ray.nodes() if node["Alive"]}
        num_nodes = Counter(names.values())
        shown = {node: name if num_nodes[name] == 1 else f"{name}-{node[:6]}" for node, name in names.items()}
        names.pop(own, None)
        self._actors = {node: actor for node, actor in self._actors.items() if node in names}
        for node in names.keys() - self._actors.keys():
            self._actors[node] = _start(node)
        calls = {actor.figures.remote(): node for node, actor in self._actors.items()}
        ready, _ = ray.wait(list(calls), num_returns=len(calls), timeout=_WAIT_SECONDS) if calls else ([], [])
        found: dict[str, Mapping[str, float]] = {}
        for call in ready:
            node = calls[call]
            try:
                found[shown[node]] = ray.get(call)
            except ray.exceptions.RayError as error:  # it died with its node, or is started anew
                _logger.debug("the node %s gives no system metrics: %s", names[node], error)
                del self._actors[node]
        return found


class _Measurer:
    """The figures of the node of this actor since the last call."""

    def __init__(self) -> None:
        from suphx_platform.tracking.machine_metrics import Machine

        self._machine = Machine()
        self._machine.sample()

    def figures(self) -> dict[str, float]:
        """Return them."""
        self._machine.sample()
        return self._machine.take()


def _start(node: str) -> Any:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    place = NodeAffinitySchedulingStrategy(node, soft=False)
    return ray.remote(_Measurer).options(num_cpus=0, scheduling_strategy=place).remote()
