"""Supervised learning of the five heads.

Imports data/ and loop/.
Start in supervised.py.
"""
