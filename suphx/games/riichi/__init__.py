"""Riichi mahjong: rules, records, features and scripted agents.

Imports suphx.kernel, atomic_file and worker_interrupt; pyproject.toml lists the order of its folders.
Start in engine/simulator.py, and docs/rules.md for the rules.
"""
