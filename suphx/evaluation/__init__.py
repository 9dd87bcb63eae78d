"""Matches, paired deals, tournaments, ratings and their intervals.

The modules here import workers/ only. Start in match.py, then statistics.py; docs/evaluation.md explains the figures.
"""
