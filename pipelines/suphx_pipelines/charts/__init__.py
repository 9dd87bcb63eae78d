"""Charts as SVG, in light and dark. Start in plot.py."""
