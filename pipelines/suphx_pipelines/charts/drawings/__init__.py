"""Tiles and cards as SVG, and their style.

Imports svg.py beside it and nothing else of the pipelines.
Start in drawing_style.py.
"""
