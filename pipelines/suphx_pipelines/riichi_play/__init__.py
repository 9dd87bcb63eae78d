"""``suphx play``: a person at a table with three agents, in the browser or in the terminal.

Start in play_table.py, then play_app.py.
"""
