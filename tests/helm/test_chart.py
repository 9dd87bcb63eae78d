"""The chart as a whole: lint, package, README, documentation of its values."""

from __future__ import annotations

import json
from pathlib import Path

import helm_python
import pytest
import yaml
from helm_python import Chart

from tests.helm.chart_readme import CHART, README, SCHEMA, readme, schema, undescribed, undocumented_values
from tests.helm.everything import EVERYTHING
from tests.helm.golden_chart import CASES, FOLDER, golden_text

VALUES = (CHART / "values.yaml").read_text(encoding="utf-8")


def test_the_linter_finds_nothing() -> None:
    for values in ({}, EVERYTHING):
        report = helm_python.lint(CHART, values, strict=True, namespace="mahjong")
        assert report["errors"] == []
        assert [message for message in report["messages"] if message["severity"] > 1] == []


def test_the_chart_can_be_packed_and_read_again(tmp_path: Path) -> None:
    archive = helm_python.package(CHART, destination=tmp_path)
    with Chart.load(archive) as packed:
        assert packed.metadata["name"] == "suphx"
        assert packed.render({}, name="suphx")


def test_the_readme_is_that_of_the_values() -> None:
    assert README.read_text(encoding="utf-8") == readme(), "run make golden"


def test_every_value_is_described() -> None:
    assert list(undocumented_values(VALUES)) == []


def test_the_schema_describes_every_value_as_the_readme_does() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == schema(), "run make golden"
    assert list(undescribed(json.loads(SCHEMA.read_text(encoding="utf-8")))) == []


def test_the_chart_has_the_version_of_the_project() -> None:
    about = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    project = (CHART.parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{about["appVersion"]}"' in project
    ray = yaml.safe_load(VALUES)["rayVersion"]
    lock = (CHART.parents[1] / "requirements.lock").read_text(encoding="utf-8")
    assert f"\nray=={ray} " in lock


@pytest.mark.parametrize("case", CASES)
def test_renders_are_those_that_were_reviewed(chart: Chart, case: str) -> None:
    reviewed = (FOLDER / f"{case}.yaml").read_text(encoding="utf-8")
    assert golden_text(chart, CASES[case]) == reviewed, "run make golden and review the difference"
