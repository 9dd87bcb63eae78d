"""Who plays tonight, what earlier nights have left, and how games are played and kept. Start in tournament_pool.py."""
