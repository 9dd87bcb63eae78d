"""The game viewer: one self-contained HTML page for a recorded game.

Imports charts/ and suphx. page/ has the HTML, CSS, scripts and words of the page.
Start in viewer_page.py.
"""
