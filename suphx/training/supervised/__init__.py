"""Supervised learning of the five heads. Start in supervised.py."""
