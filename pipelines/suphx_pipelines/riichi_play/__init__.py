"""``suphx play``: a person at a table with three agents, in the browser or in the terminal.

Imports viewer/, charts/, suphx_platform and suphx. page/ has the HTML, CSS, scripts and words of the page.
Start in play_table.py, then play_app.py.
"""
