"""Agents by name or from a folder of checkpoints, and how they choose.

Imports suphx.models, suphx.games and suphx.experience; nothing of rollouts/ or playouts/.
Start in agent.py.
"""
