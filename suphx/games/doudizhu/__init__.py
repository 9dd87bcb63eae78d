"""DouDizhu: rules, the 27,472 moves, features, scripted agents and groups of tables.

The layers above import the names in __init__.pyi from here, and nothing else of it. Start in engine.py, and
docs/doudizhu.md for the rules.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
