"""The order of a seat's decisions (paper, Figure 1), and many tables of self-play side by side.

May import every other folder of riichi but bench/ and play/, and suphx.experience.
Start in decision.py, then table_group.py.
"""
