"""Arguments that several commands share, and what they do alike. Start in parsing.py."""
