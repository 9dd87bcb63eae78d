"""The style of the drawings of tiles and cards."""

from __future__ import annotations

from importlib.resources import files


def drawing_style() -> str:
    """Return the CSS of the drawings; it needs the colours --tile, --tile-edge, --tile-back, --ink, --red, …"""
    return files("suphx_pipelines.charts.drawings").joinpath("drawing_style.css").read_text(encoding="utf-8")
