"""Games of matches and tournaments, here or on the nodes of a Ray cluster. Start in match_workers.py."""
