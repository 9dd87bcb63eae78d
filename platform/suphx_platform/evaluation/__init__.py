"""Games of matches and tournaments, here or on the nodes of a Ray cluster. Start in game_workers.py."""
