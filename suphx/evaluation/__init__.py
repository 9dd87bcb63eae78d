"""Matches, paired deals, tournaments, ratings and their intervals.

Imports suphx.selfplay and what is below it; independent of suphx.training. The modules here import workers/ only.
Start in match.py, then statistics.py; docs/evaluation.md explains the figures.
"""
