"""Golden renders of the chart: what reviewers see change. ``python -m tests.helm.golden_chart`` writes them anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from helm_python import Chart

from tests.helm.chart_readme import CHART
from tests.helm.everything import EVERYTHING, PRESETS

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "helm"
RUN = {"run": {"name": "first", "recipe": 'name = "first"\n'}}
CASES: dict[str, dict[str, Any]] = {
    **{preset: {**RUN, "preset": preset} for preset in PRESETS},
    "everything": EVERYTHING,
}


def golden_text(chart: Chart, values: dict[str, Any]) -> str:
    """Return all that is rendered, template after template; the launcher's template is left out: it is the run's."""
    texts = chart.render(values, name="suphx", namespace="mahjong")
    shown = {path: text.strip() for path, text in sorted(texts.items()) if not path.endswith("run/template.yaml")}
    return "".join(f"# {path}\n{text.removeprefix('---').strip()}\n---\n" for path, text in shown.items() if text)


def write() -> None:
    """Write all golden files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with Chart.load(CHART) as chart:
        for case, values in CASES.items():
            (FOLDER / f"{case}.yaml").write_text(golden_text(chart, values), encoding="utf-8")


if __name__ == "__main__":
    write()
