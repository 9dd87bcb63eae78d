"""Cards: fifteen ranks, how a hand is stored, and how people write it.

Imports suphx.kernel only.
Start in card.py.
"""
