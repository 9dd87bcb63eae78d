"""Nightly tournaments and promotion.

Imports report/, viewer/, runs/, summary/, engine/, recipe/ and charts/.
Start in tournament.py.
"""
