"""Nightly tournaments in games of two sides: pool, leaderboard, decision, promotion, game, report.

Start in side_tournament.py.
"""
