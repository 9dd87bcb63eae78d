"""The outside world: Figure 6 of the paper in one process and over Ray, MLflow, object storage, Kubernetes.

``launch``, ``status``, ``wait`` and ``stop`` are runs on a Kubernetes cluster (docs/kubernetes.md#from-python). Each is
loaded when it is first used, so that ``import suphx_platform`` is cheap.
Start in selfplay/policy_trainer.py.
"""

import importlib

_FUNCTIONS = ("launch", "status", "stop", "wait")
__all__ = ["ClusterError", *_FUNCTIONS]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> object:
    """Return a name of __init__.pyi: the functions know recipes, so that they belong to the room above this one."""
    if name in _FUNCTIONS:
        return getattr(importlib.import_module("suphx_pipelines.cluster_runs"), name)
    if name == "ClusterError":
        return importlib.import_module("suphx_platform.cluster.cluster_error").ClusterError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
