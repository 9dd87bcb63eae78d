"""An agent as a zip for arenas that run submitted bots: the script that plays, and the archive around it.

Imports mjai/ and the modules of agents/.
Start in bot_archive.py.
"""
