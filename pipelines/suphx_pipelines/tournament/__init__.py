"""Nightly tournaments and promotion.

Imports report/, runs/, summary/, engine/, recipe/ and charts/.
Start in tournament.py.
"""
