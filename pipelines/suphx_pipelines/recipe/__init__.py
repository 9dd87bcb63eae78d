"""Recipes: TOML files, checked against typed settings.

Imports the settings of suphx and suphx_platform.
Start in recipe.py; docs/recipe.md lists every key.
"""
