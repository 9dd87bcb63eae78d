"""Riichi mahjong: rules, records, features, scripted agents and self-play.

Imports suphx.kernel, suphx.experience, head_game.py, atomic_file, worker_interrupt; pyproject.toml lists the order of
its folders. The layers above import the names in __init__.pyi from here, and nothing else of it. Start in
engine/simulator.py, and docs/rules.md for the rules.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
