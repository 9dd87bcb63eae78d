"""The order of a seat's decisions (paper, Figure 1), and many tables of self-play side by side.

Start in decision.py, then table_group.py.
"""
