"""``suphx play``: by a game's own text in the terminal (text_play.py), or at riichi's own table."""
