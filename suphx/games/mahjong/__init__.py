"""What variants of mahjong share: tiles, melds, shanten, readings of a hand, planes of 34 columns.

Imports suphx.kernel only; games import it. Start in tile.py.
"""
