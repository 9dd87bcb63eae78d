"""Nightly tournaments and promotion.

Imports engine/, report/ and charts/.
Start in tournament.py.
"""
