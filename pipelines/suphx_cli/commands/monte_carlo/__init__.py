"""``suphx run``, ``evaluate``, ``play`` and ``tournament`` for games that are learned by Deep Monte-Carlo.

Imports arguments/, and monte_carlo/, recipe/ and tournament/ of the pipelines with what is below them.
Start in monte_carlo_run.py.
"""
