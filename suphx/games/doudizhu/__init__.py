"""DouDizhu: rules, the 27,472 moves, features, scripted agents and groups of tables.

Start in engine.py, and docs/doudizhu.md for the rules.
"""
