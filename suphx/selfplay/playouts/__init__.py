"""Self-play whose decisions are tried out: what each of several actions leads to, on the same wall.

Start in branch_collector.py.
"""
