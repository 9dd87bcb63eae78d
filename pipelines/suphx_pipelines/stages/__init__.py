"""The stages of a recipe, one file each.

Imports viewer/, engine/ and recipe/.
Start in supervised.py and reinforcement.py.
"""
