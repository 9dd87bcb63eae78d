from __future__ import annotations

from pathlib import Path

import pytest

from suphx_cli import cli
from tests.suphx_cli.commands.bench.bench_command import bench
from tests.suphx_platform.parts.small_policy_set import save_random


@pytest.mark.usefixtures("short_games")
def test_matches_are_simulated_from_the_walls_of_a_real_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    candidate, opponent = (str(save_random(tmp_path / str(seed), seed=seed)) for seed in (1, 2))
    arguments = ["--candidate", candidate, "--opponent", opponent, "--hanchans", "400", "--workers", "1"]
    result = bench(
        capsys, "sequential", *arguments, "--difference", "0.5", "0.3", "--error", "0.05", "--matches", "100"
    )
    measured = result["measured"]
    walls = {int(value): number for value, number in measured["walls"].items()}
    assert sum(walls.values()) == 100
    assert measured["difference"] == pytest.approx(sum(value * number for value, number in walls.items()) / 100 / 4)
    kinds = [(row["difference"], row["true_difference"]) for row in result["rows"]]
    assert kinds == [(0.5, 0), (0.5, -0.5), (0.5, -1), (0.3, 0), (0.3, -0.3), (0.3, -0.6)]
    for equal, better in zip(result["rows"][::3], result["rows"][1::3], strict=True):
        assert equal["better"] < 0.15 < 0.85 < better["better"]
    assert result["rows"][0]["mean_hanchans"] < result["rows"][3]["mean_hanchans"], "a smaller difference takes longer"


@pytest.mark.usefixtures("short_games")
def test_agents_that_are_too_far_apart_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    agents = ["--candidate", "tsumogiri", "--opponent", "random", "--hanchans", "40", "--workers", "1"]
    assert cli.main(["bench", "sequential", *agents]) == 1
    shown = capsys.readouterr().err
    assert "40 of 40 hanchans in " in shown, "the match has a progress bar"
    assert "cannot have the mean +0.000: measure agents of similar strength" in shown


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["--difference", "0"], "difference is 0", 2),
        (["--error", "0.7"], "error is 0.7", 2),
        (["--matches", "1"], "--matches is 1", 2),
        (["--hanchans", "9"], "9 hanchans", 2),
        (["--candidate", "nobody"], "'nobody'", 1),
    ],
)
def test_wrong_settings_are_refused(
    arguments: list[str], message: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["bench", "sequential", "--candidate", "ukeire", "--opponent", "ukeire", *arguments]) == code
    assert message in capsys.readouterr().err
