"""Whole games and paired deals between agents, thousands at once.

Imports agents/, suphx.models, suphx.games and suphx.experience.
Start in rollout.py.
"""
