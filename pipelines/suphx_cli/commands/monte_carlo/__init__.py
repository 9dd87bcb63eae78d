"""``suphx run``, ``evaluate``, ``play`` and ``tournament`` for games that are learned by Deep Monte-Carlo.

Start in monte_carlo_run.py.
"""
