from __future__ import annotations

import pytest

from tests.suphx_cli.commands.bench.bench_command import bench


def test_doudizhu_is_measured_alone(capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, "doudizhu", "--tables", "2", "--seconds", "0")
    assert values["games_per_second"] > 0
    assert values["decisions_per_second"] > 0
    assert values["peers"] == []


@pytest.mark.slow
def test_doudizhu_is_measured_beside_others(capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, "doudizhu", "--tables", "8", "--seconds", "0", "--peer", "douzero,rlcard")
    assert [peer["name"] for peer in values["peers"]] == ["douzero", "rlcard"]
    for peer in values["peers"]:
        assert peer["games_ratio"] == pytest.approx(values["games_per_second"] / peer["games_per_second"])
    assert values["peers"][0]["decisions_ratio"] > 0
    assert values["peers"][1]["decisions_ratio"] is None


def test_an_unknown_peer_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bench(capsys, "doudizhu", "--peer", "douzer")
    assert "'douzer' is not an engine to compare with: did you mean 'douzero'" in capsys.readouterr().err
