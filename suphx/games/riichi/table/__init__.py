"""What a state of the game is: tiles, actions, the wall, the table and the rules it is played by.

Imports suphx.kernel only.
Start in table.py: every field of a game in progress.
"""
