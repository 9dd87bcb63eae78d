"""Riichi on the viewer's page."""

from __future__ import annotations

from suphx_pipelines.charts.drawings.drawing_style import drawing_style
from suphx_pipelines.charts.drawings.riichi_tiles import tile_symbols
from suphx_pipelines.viewer.viewer_page import GameView

VIEW = GameView(
    name="riichi",
    scripts=("names", "tiles", "table", "step_text", "result", "moves", "side"),
    symbols=tile_symbols,
    drawing_style=drawing_style,
)
