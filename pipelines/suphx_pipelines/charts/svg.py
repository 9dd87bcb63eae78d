"""SVG elements as text. Colours come from the CSS classes of chart_style.css, so pictures follow light and dark."""

from __future__ import annotations

import html
from collections.abc import Iterable
from importlib.resources import files


def coordinate(value: float) -> str:
    """Return a coordinate with at most one decimal, and never a negative zero."""
    return f"{round(value, 1) + 0.0:g}"


def element(name: str, content: str = "", /, **attributes: object) -> str:
    """Return an element; ``class_`` becomes ``class``, other underscores become dashes, text is escaped."""
    texts = {key: coordinate(value) if isinstance(value, float) else str(value) for key, value in attributes.items()}
    pairs = "".join(f' {key.rstrip("_").replace("_", "-")}="{html.escape(text)}"' for key, text in texts.items())
    return f"<{name}{pairs}>{content}</{name}>" if content else f"<{name}{pairs}/>"


def words(x: float, y: float, text: str, anchor: str = "start", kind: str = "soft") -> str:
    """Return a line of text whose base line starts, is centred or ends at a point."""
    return element("text", html.escape(text), x=x, y=y, text_anchor=anchor, class_=kind)


def hint(text: str) -> str:
    """Return the text that a browser shows while the mouse is over the element around it."""
    return element("title", html.escape(text))


def path(points: Iterable[tuple[float, float]], kind: str) -> str:
    """Return a line through points."""
    steps = " ".join(f"{coordinate(x)},{coordinate(y)}" for x, y in points)
    return element("polyline", points=steps, class_=kind)


def drawing(width: float, height: float, parts: Iterable[str], label: str) -> str:
    """Return a picture that fills the width it is given; ``label`` is what a screen reader reads."""
    size = f"0 0 {coordinate(width)} {coordinate(height)}"
    return element("svg", "".join(parts), viewBox=size, role="img", aria_label=label, class_="chart")


def chart_style() -> str:
    """Return the CSS of all pictures."""
    return files("suphx_pipelines.charts").joinpath("chart_style.css").read_text(encoding="utf-8")
