from __future__ import annotations

import pytest

from suphx_cli import cli
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
