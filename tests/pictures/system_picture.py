"""docs/pictures/system-*.svg: the system as it is built (the paper's Figure 6), for light and dark pages.

``python -m tests.pictures.system_picture`` draws them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.sax.saxutils import escape

from tests.repository import REPOSITORY

PICTURES = REPOSITORY / "docs" / "pictures"
WIDTH, HEIGHT = 920, 506
FONT = "-apple-system, BlinkMacSystemFont, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"

Role = Literal["stage", "cpu", "gpu", "data", "room"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """Colours of one picture."""

    text: str
    muted: str
    line: str
    fills: dict[Role, tuple[str, str]]
    """Fill and border by role."""


PALETTES = {
    "light": Palette(
        text="#1f2328",
        muted="#59636e",
        line="#6e7781",
        fills={
            "stage": ("#dafbe1", "#4ac26b"),
            "cpu": ("#ddf4ff", "#54aeff"),
            "gpu": ("#fbefff", "#c297ff"),
            "data": ("#fff8c5", "#d4a72c"),
            "room": ("#f6f8fa", "#d1d9e0"),
        },
    ),
    "dark": Palette(
        text="#f0f6fc",
        muted="#a6afb9",
        line="#8b949e",
        fills={
            "stage": ("#12351f", "#2ea043"),
            "cpu": ("#0c2d52", "#388bfd"),
            "gpu": ("#341a52", "#a371f7"),
            "data": ("#3b2a05", "#bb8009"),
            "room": ("#151b23", "#3d444d"),
        },
    ),
}


@dataclass(frozen=True, slots=True)
class Box:
    """A rounded box with a title and a line below it."""

    title: str
    note: str
    role: Role
    x: int
    y: int
    width: int = 204
    height: int = 66
    num_copies: int = 1
    """How many are drawn behind each other."""


STAGES = [
    Box("records", "yours, or played here", "stage", 24, 30, 150, 56),
    Box("five nets", "supervised", "stage", 204, 30, 150, 56),
    Box("match", "on shared walls", "stage", 384, 30, 150, 56),
    Box("self-play", "reinforcement", "stage", 564, 30, 150, 56),
    Box("report", "one HTML page", "stage", 744, 30, 150, 56),
]
SIMULATORS = Box("simulators", "rules and planes (numba)", "cpu", 48, 172, num_copies=3)
ENGINES = Box("inference engines", "the nets answer in batches", "gpu", 48, 292, num_copies=3)
BUFFER = Box("replay buffer", "shards; drops stale decisions", "data", 358, 172, num_copies=2)
LEARNER = Box("learner", "policy gradient (PyTorch)", "gpu", 668, 172)
SERVER = Box("parameter server", "policy versions", "data", 668, 292)
OUTSIDE = [
    Box("storage", "S3 or a folder: checkpoints", "data", 24, 424, 200),
    Box("tournament", "newest against the champion", "stage", 248, 424, 200),
    Box("MLflow", "metrics, reports, champion", "data", 472, 424, 200),
    Box("Prometheus, Grafana", "rates, faults, alerts", "data", 696, 424, 200),
]


def picture(palette: Palette) -> str:
    """Return the whole SVG."""
    fill, border = palette.fills["room"]
    parts = [
        _text(24, 18, "the pipeline of suphx run: one recipe, one command", palette.muted, anchor="start"),
        *(_box(stage, palette) for stage in STAGES),
        *(_arrow([(a.x + a.width, 58), (b.x, 58)], palette) for a, b in itertools.pairwise(STAGES)),
        f'<rect x="24" y="118" width="872" height="268" rx="12" fill="{fill}" stroke="{border}"/>',
        f'<path d="M606 86 L596 118 L682 118 L672 86 Z" fill="{fill}" stroke="{border}"/>',
        _text(48, 146, "in one process, as Ray actors, or as pods on Kubernetes", palette.muted, anchor="start"),
        *(_box(box, palette) for box in (SIMULATORS, ENGINES, BUFFER, LEARNER, SERVER, *OUTSIDE)),
        *_key(palette),
        _arrow([(112, 238), (112, 281)], palette),
        _text(102, 265, "planes", palette.muted, anchor="end"),
        _arrow([(188, 280), (188, 238)], palette),
        _text(198, 265, "actions", palette.muted, anchor="start"),
        _arrow([(264, 205), (358, 205)], palette),
        _text(312, 195, "decisions", palette.muted),
        _arrow([(568, 205), (668, 205)], palette),
        _text(618, 195, "batches", palette.muted),
        _arrow([(770, 238), (770, 292)], palette),
        _text(780, 268, "weights", palette.muted, anchor="start"),
        _arrow([(668, 325), (265, 325)], palette),
        _text(460, 315, "newest policy version", palette.muted),
        _arrow([(124, 386), (124, 424)], palette),
        _arrow([(224, 457), (248, 457)], palette),
        _arrow([(448, 457), (472, 457)], palette),
        _arrow([(572, 386), (572, 424)], palette),
        _arrow([(796, 386), (796, 424)], palette),
    ]
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" font-family="{FONT}">\n<title>The parts of the system and what they exchange</title>\n'
        f'<defs><marker id="tip" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        f'<path d="M0 0 L8 4 L0 8 Z" fill="{palette.line}"/></marker></defs>\n{body}\n</svg>\n'
    )


def _key(palette: Palette) -> list[str]:
    """Return what the colours of processes mean."""
    parts = []
    keys: list[tuple[int, Role, str]] = [(664, "cpu", "on CPUs"), (752, "gpu", "on GPUs if present")]
    for x, role, meaning in keys:
        fill, border = palette.fills[role]
        parts.append(f'<rect x="{x}" y="134" width="14" height="14" rx="3" fill="{fill}" stroke="{border}"/>')
        parts.append(_text(x + 20, 146, meaning, palette.muted, anchor="start"))
    return parts


def _box(box: Box, palette: Palette) -> str:
    fill, border = palette.fills[box.role]
    rects = [
        f'<rect x="{box.x + 6 * i}" y="{box.y - 6 * i}" width="{box.width}" height="{box.height}" rx="8" '
        f'fill="{fill}" stroke="{border}" stroke-width="1.5"/>'
        for i in reversed(range(box.num_copies))
    ]
    middle, centre = box.x + box.width // 2, box.y + box.height // 2
    title = _text(middle, centre - 4, box.title, palette.text, size=16, weight=600)
    return "\n".join([*rects, title, _text(middle, centre + 17, box.note, palette.muted)])


def _arrow(points: list[tuple[int, int]], palette: Palette) -> str:
    path = " L".join(f"{x} {y}" for x, y in points)
    return f'<path d="M{path}" fill="none" stroke="{palette.line}" stroke-width="1.5" marker-end="url(#tip)"/>'


def _text(
    x: int, y: int, text: str, colour: str, *, anchor: str = "middle", size: int = 13, weight: int = 400
) -> str:  # fmt: skip
    return (
        f'<text x="{x}" y="{y}" fill="{colour}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}">'
        f"{escape(text)}</text>"
    )


def pictures() -> dict[Path, str]:
    """Return both files with what is in them."""
    return {PICTURES / f"system-{name}.svg": picture(palette) for name, palette in PALETTES.items()}


if __name__ == "__main__":
    for path, svg in pictures().items():
        path.write_text(svg, encoding="utf-8")
