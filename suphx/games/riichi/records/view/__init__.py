"""A recorded game as people see it: as lines of text, as the sample of a report, step by step for the viewer.

Imports log/, engine/, hand/ and table/.
Start in recorded_decisions.py, then viewer_game.py.
"""
