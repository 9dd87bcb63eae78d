"""Moves: all 27,472 actions by type, and the legal ones of a hand.

Imports cards/.
Start in move_table.py; legal.py has the kernel.
"""
