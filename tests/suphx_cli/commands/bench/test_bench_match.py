from __future__ import annotations

from pathlib import Path

import pytest

from suphx_cli import cli
from tests.selfplay.small_policy_set import save_random
from tests.suphx_cli.commands.bench.bench_command import bench

LENGTH = ["--hanchans", "40", "--workers", "1"]


@pytest.mark.usefixtures("short_games")
def test_pairs_are_measured_with_three_kinds_of_walls(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = ["--pair", "ukeire", "tsumogiri", "--pair", "ukeire", "ukeire"]
    different, equal = bench(capsys, "evaluation", *pairs, *LENGTH)["pairs"]
    assert different["fewer_hanchans"] == pytest.approx(different["variance_before"] / different["variance"])
    assert different["fewer_by_walls"] == pytest.approx(different["variance_before"] / different["variance_of_walls"])
    assert different["variance_before"] == different["variance_of_walls"], "these games have one deal"
    assert (equal["variance"], equal["fewer_hanchans"]) == (0, None), "equal agents have the mean on every wall"


@pytest.mark.usefixtures("short_games")
def test_scripted_variants_are_measured_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = bench(capsys, "evaluation", *LENGTH)["pairs"]
    assert len({pair["candidate"] for pair in pairs}) == len(pairs) >= 3
    assert {pair["opponent"] for pair in pairs} == {"ukeire"}


def test_an_unknown_agent_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "evaluation", "--pair", "ukeire-lazy", "ukeire"]) == 1
    assert "'ukeire-lazy' is no agent" in capsys.readouterr().err.splitlines()[-1]


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
def test_wrong_settings_of_sequential_tests_are_refused(
    arguments: list[str], message: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["bench", "sequential", "--candidate", "ukeire", "--opponent", "ukeire", *arguments]) == code
    assert message in capsys.readouterr().err


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
