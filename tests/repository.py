"""Places in the repository."""

from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
RECIPES = REPOSITORY / "pipelines" / "recipes"
GOLDEN = REPOSITORY / "tests" / "golden"
