"""Recipes: TOML files, checked against typed settings. Start in recipe.py; docs/recipe.md lists every key."""
