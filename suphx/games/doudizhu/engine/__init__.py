"""How a game goes on: the deal, turns, the end and its scores, for thousands of tables at once.

Imports cards/ and moves/.
Start in simulator.py; play.py has the rules of a turn.
"""
