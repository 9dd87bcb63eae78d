from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from suphx.games.riichi.peers import (
    HAND_PEERS,
    HandPeer,
    PeerScore,
    collect_wins,
    describe_win,
    load_hand_peer,
    score_wins,
)
from suphx_cli import cli
from suphx_platform.bench.hands import random_hands
from suphx_platform.bench.storage import bench_storage
from suphx_platform.bench.timing import compare_rates
from suphx_platform.storage.storage_config import StorageConfig
from tests.suphx_cli.commands.bench_command import bench


def test_a_training_state_is_saved_loaded_and_removed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "storage"
    options = ["--address", str(place), "--size", "tiny", "--encoder", "mini", "--rounds", "2"]
    found = bench(capsys, "storage", *options)
    assert found["save_mib_per_second"] > 0
    assert found["load_mib_per_second"] > 0
    assert found["mib"] > 1
    assert (found["peer"], found["ratio"]) == (None, None)
    assert not [path for path in place.rglob("*") if path.is_file()]


def test_a_peer_that_cannot_copy_there_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    config = StorageConfig(address=str(tmp_path / "storage"))
    with pytest.raises(ValueError, match="aws copies to buckets only"):
        bench_storage(config, size="tiny", encoder="mini", rounds=1, peer="aws", say=print)
    assert not (tmp_path / "storage").exists()


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


NUM_WINS = 60


def test_simulator_reports_rates_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(
        capsys, "simulator", "--hanchans", "8", "--skip-start", "--threads", "2", "--seed", "5", "--seconds", "0"
    )
    assert values["hanchans_per_second"] > 0
    per_hanchan = values["decisions_per_second"] / values["hanchans_per_second"]
    assert per_hanchan == pytest.approx(values["decisions_per_hanchan"])
    assert 300 < values["decisions_per_hanchan"] < 3000
    assert 4 <= values["kyoku_per_hanchan"] < 30
    assert 0 < values["bytes_per_table"] < 10_000
    assert (values["threads"], values["hanchans"], values["seed"]) == (2, 8, 5)
    assert values["scaling"] > 0
    for key in ("peer", "ratio", "cold_start_seconds", "warm_start_seconds"):
        assert values[key] is None


def test_simulator_is_compared_with_a_peer_that_plays_the_same_kind_of_game(
    capsys: pytest.CaptureFixture[str],
) -> None:
    values = bench(capsys, "simulator", "--hanchans", "2", "--skip-start", "--peer", "riichienv", "--seconds", "0")
    peer = values["peer"]
    assert peer["name"] == "riichienv"
    assert peer["version"]
    assert 300 < peer["decisions_per_hanchan"] < 3000
    assert peer["decisions_per_second"] > peer["hanchans_per_second"] > 0
    assert values["ratio"] == pytest.approx(values["hanchans_per_second"] / peer["hanchans_per_second"])
    assert values["scaling"] is None  # one thread


@pytest.mark.slow
def test_a_first_game_starts_with_an_empty_and_with_a_full_cache(capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, "simulator", "--hanchans", "1", "--seconds", "0")
    assert values["cold_start_seconds"] > 0
    assert values["warm_start_seconds"] > 0


def test_hands_reports_rates_and_the_same_results_as_its_peers(capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, "hands", "--hands", "40", "--seconds", "0", "--peer", "mahjong,riichienv")
    assert values["scores_per_second"] > 0
    assert values["shanten_per_second"] > 0
    assert values["hands"] == 40
    assert list(values["peers"]) == list(values["ratios"]) == ["mahjong", "riichienv"]
    for name, peer in values["peers"].items():
        ratios = values["ratios"][name]
        assert ratios["scores"] == pytest.approx(values["scores_per_second"] / peer["scores_per_second"])
        assert ratios["shanten"] == pytest.approx(values["shanten_per_second"] / peer["shanten_per_second"])
    assert values["mismatches"] == 0


def test_features_reports_rates_and_what_look_ahead_costs(capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, "features", "--decisions", "300", "--seconds", "0", "--threads", "2", "--peer", "riichienv")
    assert values["decisions_per_second"] > 0
    assert values["observations_per_second"] >= values["decisions_per_second"]
    assert values["without_lookahead_per_second"] > 0
    assert isinstance(values["lookahead_microseconds"], float)
    assert (values["bytes_per_row"], values["bytes_per_claim_row"]) == (3562, 4072)
    assert (values["threads"], values["decisions"], values["seed"]) == (2, 300, 0)
    assert values["observations"] >= 300
    assert values["scaling"] > 0
    assert values["peer"]["name"] == "riichienv"
    assert values["peer"]["planes"] == 215
    assert values["ratio"] > 0


@pytest.mark.records
def test_features_takes_positions_of_real_games(capsys: pytest.CaptureFixture[str], records: Path) -> None:
    folder = records / "houou-tonpuu-2023-2024"
    values = bench(capsys, "features", "--decisions", "200", "--seconds", "0", "--records", str(folder))
    assert values["positions"] == "recorded games"
    assert (values["decisions"], values["scaling"], values["peer"], values["ratio"]) == (200, None, None, None)


def test_features_needs_games_where_records_are_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main(["bench", "features", "--records", str(tmp_path)]) == 1
    assert "suphx:" in capsys.readouterr().err


def test_hands_needs_no_peer(capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, "hands", "--hands", "10", "--seconds", "0")
    assert (values["peers"], values["ratios"], values["mismatches"]) == ({}, {}, 0)


@pytest.mark.parametrize("peer", [load_hand_peer(name) for name in HAND_PEERS], ids=HAND_PEERS)
def test_a_wrong_score_is_found_by_every_peer(peer: HandPeer) -> None:
    tables = collect_wins(NUM_WINS, seed=3)
    scores = np.zeros((NUM_WINS, 3), np.int32)
    score_wins(tables, scores)
    wins = [describe_win(table) for table in tables]
    theirs = [peer.read_score(result, win) for result, win in zip(peer.prepare_scores(wins)(), wins, strict=True)]
    assert theirs == [PeerScore(*row) for row in scores.tolist()]
    assert theirs != [PeerScore(han + 1, fu, points) for han, fu, points in scores.tolist()]


def test_wins_are_described_tile_by_tile() -> None:
    for table in collect_wins(NUM_WINS, seed=11):
        win = describe_win(table)
        tiles = win.concealed + [tile for _, tiles in win.melds for tile in tiles]
        num_kans = sum(len(tiles) == 4 for _, tiles in win.melds)
        assert len(tiles) == len(set(tiles)) == 14 + num_kans
        assert win.win_tile in win.concealed
        assert 1 <= len(win.dora_indicators) <= 5
        seat = table["actor"]
        reds = sum(tile in (16, 52, 88) for tile in tiles)
        is_red_claimed = bool(win.win_tile in (16, 52, 88) and not win.circumstances & 1)
        melded = int(table["meld_red"][seat, : table["num_melds"][seat]].sum())
        assert reds == int(table["red"][seat]).bit_count() + melded + is_red_claimed


def test_the_same_seed_gives_the_same_wins() -> None:
    assert collect_wins(5, seed=2).tobytes() == collect_wins(5, seed=2).tobytes()
    assert collect_wins(5, seed=2).tobytes() != collect_wins(5, seed=3).tobytes()


def test_random_hands_have_13_or_14_tiles_and_never_five_of_a_kind() -> None:
    hands = random_hands(100, seed=0)
    assert hands.sum(axis=1).tolist() == [13, 14] * 50
    assert hands.max() <= 4


def test_candidates_take_turns_and_work_at_least_once_a_round() -> None:
    order: list[str] = []

    def call(name: str) -> int:
        order.append(name)
        return 7

    rates = compare_rates({"a": lambda: call("a"), "b": lambda: call("b")}, seconds=0, rounds=3)
    assert order == ["a", "b"] * 3
    assert set(rates) == {"a", "b"}


@pytest.mark.parametrize("subject", ["hands", "features", "simulator", "selfplay", "environments", "inference"])
def test_a_negative_seed_is_wrong_usage(subject: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["bench", subject, "--seed", "-1"])
    assert stop.value.code == 2
    assert "'-1' is not a whole number, 0 to " in capsys.readouterr().err


def test_a_peer_that_is_not_installed_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mahjong.hand_calculating.hand", None)
    with pytest.raises(ValueError, match=r"mahjong is not installed: run pip install mahjong, or leave it out"):
        load_hand_peer("mahjong")


@pytest.mark.parametrize("text", ["-1", "inf", "nan", "soon"])
def test_seconds_must_be_a_finite_time(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["bench", "hands", "--seconds", text])
    assert stop.value.code == 2
    assert f"'{text}' is not a time" in capsys.readouterr().err


def test_environments_reports_steps_beside_those_of_a_peer(capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, "environments", "--tables", "4", "--steps", "2", "--seconds", "0", "--peer", "riichienv")
    assert values["unpacked_steps_per_second"] > 0
    peer, ratios = values["peers"]["riichienv"], values["ratios"]["riichienv"]
    assert list(ratios) == ["steps_per_second", "every_seat_steps_per_second"]
    assert all(ratios[name] == pytest.approx(values[name] / peer[name]) for name in ratios)
    assert (values["tables"], values["encoder"], values["opponents"]) == (4, "mini", "random")


def test_a_missing_mahjax_is_told_with_the_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["bench", "environments", "--peer", "mahjax", "--mahjax-python", sys.executable]
    assert cli.main(arguments) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert "mahjax cannot be imported (No module named 'jax'): run python3.11 -m venv mahjax" in last
