"""Records of games: in memory, as JSON lines, and as text for people.

Imports engine/, moves/ and cards/.
Start in game_record.py.
"""
