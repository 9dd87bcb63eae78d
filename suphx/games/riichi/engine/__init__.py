"""How a game goes on: legal actions, one kyoku, the hanchan, and thousands of games at once.

Imports table/ and hand/.
Start in simulator.py; what is legal is decided in legal.py.
"""
