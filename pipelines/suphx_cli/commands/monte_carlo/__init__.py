"""What ``suphx run`` and ``suphx evaluate`` do for games that are learned by Deep Monte-Carlo.

Imports arguments/.
Start in monte_carlo_run.py.
"""
