"""What a hand is worth: shanten, winning shapes, yaku and score.

Imports table/.
Start in suit_table.py (the lookup that all use), then shanten.py and yaku.py.
"""
