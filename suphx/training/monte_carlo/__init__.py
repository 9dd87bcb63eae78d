"""Deep Monte-Carlo: nets learn the return of a move in a state, and play the move with the highest (DouZero).

Start in monte_carlo_learning.py.
"""
