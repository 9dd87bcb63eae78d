"""An agent as a zip for arenas that run submitted bots: the script that plays, and the archive around it.

Start in bot_archive.py.
"""
