"""Games as texts and in memory: Tenhou's mjlog, mjai, tenhou.net/6; replay; what the viewer shows.

Start in game_log.py: what a recorded game is.
"""
