"""Golden renders of the chart, whose changes are reviewed. ``python -m tests.helm.golden_chart`` writes them."""

from __future__ import annotations

from typing import Any

from helm_python import Chart

from tests.helm.chart_readme import CHART
from tests.helm.everything import EVERYTHING, PRESETS
from tests.repository import GOLDEN

FOLDER = GOLDEN / "helm"
RUN = {"run": {"name": "first", "recipe": 'name = "first"\n'}}
CASES: dict[str, dict[str, Any]] = {
    **{preset: {**RUN, "preset": preset} for preset in PRESETS},
    "everything": EVERYTHING,
}


def golden_text(chart: Chart, values: dict[str, Any]) -> str:
    """Return all rendered templates but two, which repeat the run, and the dashboard, which is a file."""
    texts = chart.render(values, name="suphx", namespace="mahjong")
    hidden = ("run/template.yaml", "run/recipe.yaml", "metrics/dashboard.yaml")
    shown = {path: text.strip() for path, text in sorted(texts.items()) if not path.endswith(hidden)}
    return "".join(f"# {path}\n{text.removeprefix('---').strip()}\n---\n" for path, text in shown.items() if text)


def write() -> None:
    """Write all golden files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with Chart.load(CHART) as chart:
        for case, values in CASES.items():
            (FOLDER / f"{case}.yaml").write_text(golden_text(chart, values), encoding="utf-8")


if __name__ == "__main__":
    write()
