from __future__ import annotations

import pytest
from helm_python import Chart

from tests.helm.golden_chart import CASES, FOLDER, golden_text


@pytest.mark.parametrize("case", CASES)
def test_renders_are_those_that_were_reviewed(chart: Chart, case: str) -> None:
    reviewed = (FOLDER / f"{case}.yaml").read_text(encoding="utf-8")
    assert golden_text(chart, CASES[case]) == reviewed, "run make golden and review the difference"
