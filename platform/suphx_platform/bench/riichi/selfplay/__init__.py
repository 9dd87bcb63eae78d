"""The benchmark of self-play, in one process and over Ray. Start in selfplay.py."""
