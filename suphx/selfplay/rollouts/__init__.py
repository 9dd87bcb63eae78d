"""Whole games and paired deals between agents, thousands at once.

Imports agents/.
Start in rollout.py.
"""
