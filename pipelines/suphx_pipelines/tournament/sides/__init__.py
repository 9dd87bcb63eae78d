"""Nightly tournaments in games of two sides: pool, leaderboard, decision, promotion, report.

Imports pool/, report/, runs/, summary/, engine/, recipe/, charts/, and the pages of tournament/.
Start in side_tournament.py.
"""
