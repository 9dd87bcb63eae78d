"""Riichi mahjong: rules, records, features and scripted agents.

Imports suphx.kernel only; its own rooms are layered as pyproject.toml lists them.
Start in engine/simulator.py, and docs/rules.md for the rules.
"""
