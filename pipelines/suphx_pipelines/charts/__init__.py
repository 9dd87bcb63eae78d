"""Charts as SVG, in light and dark.

Imports nothing of the pipelines.
Start in plot.py.
"""
