from __future__ import annotations

from pathlib import Path

import pytest

from suphx_cli import cli
from tests.suphx_cli.commands.bench.bench_command import bench
from tests.suphx_platform.parts.small_policy_set import save_random


@pytest.mark.slow
def test_a_match_is_measured_beside_self_play_of_the_same_nets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nets = save_random(tmp_path / "nets")
    result = bench(capsys, "match", "--agent", str(nets), "--hanchans", "40", "--seconds", "1", "--workers", "1")
    assert result["ratio"] == result["decisions_per_second"] / result["selfplay_decisions_per_second"] > 0
    assert 200 < result["decisions_per_hanchan"] < 3_000
    whole = result["whole_match"]
    assert whole["decisions_per_second"] * whole["seconds"] == pytest.approx(40 * result["decisions_per_hanchan"])


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_memory_of_a_match_is_measured_after_each_tenth(workers: int, capsys: pytest.CaptureFixture[str]) -> None:
    result = bench(capsys, "match-memory", "--hanchans", str(160 * workers), "--workers", str(workers))
    assert len(result["bytes"]) == 9
    assert min(result["bytes"]) > 80_000_000 * (1 + workers) // 2
    assert result["ratio"] == result["bytes"][-1] / result["bytes"][0]


def test_wrong_settings_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "match-memory", "--hanchans", "36"]) == 2
    assert "--hanchans is 36: use 40 or more" in capsys.readouterr().err
    assert cli.main(["bench", "match", "--agent", "ukeire"]) == 1
    assert "ukeire has no nets" in capsys.readouterr().err
