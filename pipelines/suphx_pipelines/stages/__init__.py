"""The stages of a recipe, one file each.

Imports viewer/, engine/, recipe/ and summary/.
Start in supervised.py and reinforcement.py.
"""
