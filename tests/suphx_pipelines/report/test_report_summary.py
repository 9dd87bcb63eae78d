from __future__ import annotations

from pathlib import Path

import pytest

from suphx_pipelines.report import report_summary
from suphx_pipelines.summary.run_summary import RunSummary, StageSummary


@pytest.mark.parametrize("warnings", [[], ["match: its result was made by other code"]])
def test_the_head_of_a_report_shows_what_stages_warned_of(warnings: list[str], tmp_path: Path) -> None:
    stages = {"match": StageSummary(status="kept", warnings=warnings), "report": StageSummary()}
    RunSummary(
        run_id="night-1", recipe="nightly", command=["suphx"], state="running", started="2026-11-22", stages=stages
    ).write(tmp_path)
    head = report_summary.run_head(tmp_path, {"commit": "0123456789abcdef"})
    assert "night-1" in head
    assert ("Needs attention" in head) == bool(warnings)
    assert ("Match: its result was made by other code" in head) == bool(warnings)


def test_a_run_without_a_summary_shows_its_commit(tmp_path: Path) -> None:
    assert "0123456" in report_summary.run_head(tmp_path, {"commit": "0123456789abcdef"})
