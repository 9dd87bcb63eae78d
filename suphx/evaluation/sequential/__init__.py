"""Matches that stop as soon as they are decided.

Start in sequential_test.py (when to stop) and match_watch.py (an interval that may be looked at any time), then
sequential_match.py (the games) and match_watch.py; in games of two sides these are side_sequential_match.py and
match_watch.py. docs/evaluation.md explains the figures.
"""
