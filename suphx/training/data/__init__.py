"""Datasets of decisions: streaming, splitting, augmentation.

Imports suphx.games.
Start in dataset.py.
"""
