"""Deep Monte-Carlo: nets learn the return of a move in a state, and play the move with the highest (DouZero).

Imports loop/, suphx.models, suphx.experience and suphx.games.
Start in monte_carlo_learning.py.
"""
