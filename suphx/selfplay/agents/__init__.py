"""Agents by name or from a folder of checkpoints, and how they choose.

Imports suphx.selfplay, suphx.models and suphx.games.
Start in agent.py.
"""
