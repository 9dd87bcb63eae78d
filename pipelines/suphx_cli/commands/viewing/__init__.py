"""Commands that show recorded games: the viewer and reviews.

Imports arguments/ and what the commands need.
Start in view.py.
"""
