"""Nightly tournaments in games of two sides: pool, leaderboard, decision, promotion, game, report.

Imports pool/, report/, runs/, summary/, viewer/, engine/, recipe/, charts/, and the pages of tournament/.
Start in side_tournament.py.
"""
