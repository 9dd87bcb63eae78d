"""Commands that show recorded games: the viewer and reviews. Start in view.py."""
