"""Charts, tiles and cards as SVG, in light and dark. Start in plot.py."""
