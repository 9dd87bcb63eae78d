"""Nightly tournaments and promotion. Start in tournament.py."""
