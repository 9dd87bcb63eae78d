"""Riichi mahjong for learning machines: games, records, planes, agents, matches. docs/python.md explains the names.

``import suphx`` is cheap: each of the names in __init__.pyi is loaded when it is first used. The packages below are the
rules and the learning; they import nothing of the platform: no Ray, Kubernetes, MLflow or boto3.
Start in suphx.games.riichi.simulator (the game) or suphx.games.riichi.selfplay.table_group (self-play).
"""

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    """Return a name of __init__.pyi, or the installed version."""
    if name == "__version__":
        from importlib.metadata import version

        return version("suphx")
    return _load(name)
