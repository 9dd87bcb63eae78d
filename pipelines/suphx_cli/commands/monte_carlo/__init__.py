"""What ``suphx run``, ``suphx evaluate`` and ``suphx tournament`` do for games that are learned by Deep Monte-Carlo.

Imports monte_carlo/ and recipe/ of the pipelines, and what is below them; no other command.
Start in monte_carlo_run.py.
"""
