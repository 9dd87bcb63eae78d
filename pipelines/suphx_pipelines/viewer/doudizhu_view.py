"""DouDizhu on the viewer's page."""

from __future__ import annotations

from suphx_pipelines.charts.drawings.card_drawing import card_symbols
from suphx_pipelines.charts.drawings.drawing_style import drawing_style
from suphx_pipelines.viewer.viewer_page import GameView

VIEW = GameView(
    name="doudizhu",
    scripts=("names", "cards", "table", "step_text", "result", "moves", "side"),
    symbols=card_symbols,
    drawing_style=drawing_style,
)
