"""Matches, paired deals, tournaments, ratings and their intervals.

Start in match.py, then statistics.py; docs/evaluation.md explains the figures.
"""
