"""Learning from playouts: nets become stronger by what each of some answers to a decision leads to.

Imports loop/ and suphx.selfplay.playouts.
Start in playout_training.py, and docs/playouts.md for what it does.
"""
