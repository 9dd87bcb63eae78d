"""Tiles and cards as SVG, and their style. Start in drawing_style.py."""
