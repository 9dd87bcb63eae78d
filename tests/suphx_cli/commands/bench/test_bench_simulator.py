from __future__ import annotations

import pytest

from suphx_cli import cli
from tests.suphx_cli.commands.bench.bench_command import bench


def test_doudizhu_is_measured_alone(capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, "simulator", "--game", "doudizhu", "--seconds", "0")
    assert values["games_per_second"] > 0
    assert values["decisions_per_second"] == pytest.approx(values["games_per_second"] * values["decisions_per_game"])
    assert 20 < values["decisions_per_game"] < 160
    assert (values["peers"], values["ratios"], values["nets"]) == ({}, {}, None)


def test_decisions_of_nets_are_measured_if_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, "simulator", "--game", "doudizhu", "--nets", "--tables", "2", "--seconds", "0")
    assert values["nets"]["decisions_per_second"] > 0
    assert values["nets"]["tables"] == 2


@pytest.mark.slow
def test_doudizhu_is_measured_beside_others(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--nets", "--tables", "8", "--seconds", "0", "--peer", "douzero,rlcard")
    values = bench(capsys, "simulator", "--game", "doudizhu", *words)
    assert list(values["peers"]) == list(values["ratios"]) == ["douzero", "rlcard"]
    for name, peer in values["peers"].items():
        assert values["ratios"][name] == pytest.approx(values["games_per_second"] / peer["games_per_second"])
    nets = values["nets"]
    assert list(nets["peers"]) == ["douzero"]  # RLCard has no nets of this size
    rate = nets["peers"]["douzero"]["decisions_per_second"]
    assert nets["ratios"]["douzero"] == pytest.approx(nets["decisions_per_second"] / rate)


def test_an_unknown_peer_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bench(capsys, "simulator", "--game", "doudizhu", "--peer", "douzer")
    assert "'douzer' is not an engine to compare with: did you mean 'douzero'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--peer", "rlcard"], "rlcard does not play riichi: use --peer riichienv"),
        (["--game", "doudizhu", "--peer", "riichienv"], "riichienv does not play DouDizhu: use --peer douzero,rlcard"),
        (["--game", "doudizhu", "--hanchans", "8"], "--hanchans has no meaning for DouDizhu: leave it out"),
        (["--game", "doudizhu", "--skip-start"], "--skip-start has no meaning for DouDizhu: leave it out"),
        (["--nets"], "--nets has no meaning for riichi: leave it out"),
        (["--game", "doudizhu", "--tables", "8"], "--tables is the number of games of nets: use it with --nets"),
    ],
)
def test_what_another_game_has_is_refused(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "simulator", *words]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"suphx: {message}"
