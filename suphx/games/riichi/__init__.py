"""Riichi mahjong: rules, records, features, scripted agents and self-play.

Start in table.py (the state), kyoku.py (one deal), simulator.py (many games), and docs/rules.md for the rules.
"""
