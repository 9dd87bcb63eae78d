"""The look-ahead planes: what a hand can become with up to three new tiles, with which chance and points.

Imports layout/, public/, engine/, hand/ and table/.
Start in lookahead.py, then win_search.py.
"""
