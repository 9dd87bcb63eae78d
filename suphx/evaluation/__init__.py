"""Matches, paired deals, tournaments, ratings and their intervals.

Imports suphx.selfplay and what is below it; independent of suphx.training.
Start in match.py, then statistics.py; docs/evaluation.md explains the figures.
"""
