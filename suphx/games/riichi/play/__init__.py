"""A game of a person with three agents: what the seat sees, the moves that it may make, the course of the game.

Imports records/, engine/ and table/. Nothing here knows of a browser or a terminal.
Start in game_session.py.
"""
