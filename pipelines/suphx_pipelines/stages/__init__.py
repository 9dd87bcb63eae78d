"""The stages of a recipe, one file each. Start in supervised.py and reinforcement.py."""
