"""The game viewer: one self-contained HTML page for a recorded game.

Imports charts/, suphx, and the console of suphx_platform. page/ has the HTML, CSS, scripts and words of the page.
Start in viewer_page.py.
"""
