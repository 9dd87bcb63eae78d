from __future__ import annotations

import json

import pytest

from suphx_cli import cli


@pytest.mark.usefixtures("short_games")
def test_pairs_are_measured_with_and_without_draw_lanes(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = ["--pair", "ukeire", "tsumogiri", "--pair", "ukeire", "ukeire"]
    assert cli.main(["bench", "evaluation", *pairs, "--hanchans", "40", "--workers", "1", "--json"]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    different, equal = result["pairs"]
    assert different["ratio"] == different["variance_without_lanes"] / different["variance"]
    assert (equal["variance"], equal["ratio"]) == (0, None), "equal agents have the mean on every wall"
