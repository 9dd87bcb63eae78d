"""The game viewer: one self-contained HTML page for a recorded game. Start in viewer_page.py."""
