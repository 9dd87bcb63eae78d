"""Records of games: in memory, as JSON lines, and as text for people. Start in game_record.py."""
