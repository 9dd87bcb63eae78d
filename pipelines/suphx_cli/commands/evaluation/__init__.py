"""``suphx evaluate``: its options, their checks, and the matches that it plays. Start in evaluate.py."""
