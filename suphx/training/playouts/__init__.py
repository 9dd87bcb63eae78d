"""Learning from playouts: nets become stronger by what each of several actions of a decision leads to.

Start in playout_training.py, and docs/playouts.md for what it does.
"""
