"""What ``suphx run``, ``suphx evaluate`` and ``suphx tournament`` do for games that are learned by Deep Monte-Carlo.

Imports arguments/.
Start in monte_carlo_run.py.
"""
