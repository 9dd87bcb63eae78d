"""``suphx evaluate``: its options, their checks, and the matches that it plays.

Imports arguments/, monte_carlo/ beside it, and the packages below the command line.
Start in evaluate.py.
"""
