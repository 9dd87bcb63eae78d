"""Self-play on many tables: observations, sampled answers and trajectories.

Imports suphx.models and suphx.games.
Start in table_group.py.
"""
