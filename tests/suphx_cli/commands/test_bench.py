"""``suphx bench``: options, figures and mistakes."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from suphx.games.riichi.features.encoder import ENCODERS
from suphx_cli import arguments, cli
from suphx_platform.bench import selfplay
from suphx_platform.bench.nets import collect_samples
from suphx_platform.bench.selfplay import Alone, HeadCost


def bench(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Run ``suphx bench`` in this process and return its JSON."""
    assert cli.main(["bench", *arguments, "--json"]) == 0, capsys.readouterr().err
    values: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return values


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
    assert values["cold_start_seconds"] is None


def test_hands_of_dazhong_are_measured_in_the_kernel_and_at_tables(capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, "simulator", "--game", "dazhong", "--seconds", "0")
    assert min(values["hands_per_second"], values["match_hands_per_second"]) > 0


def test_games_of_mcr_are_measured_in_the_kernel_and_at_tables(capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, "simulator", "--game", "mcr", "--seconds", "0")
    assert min(values["games_per_second"], values["match_games_per_second"]) > 0


@pytest.mark.parametrize("game", ["dazhong", "mcr"])
def test_features_of_other_games_are_measured(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, "features", "--game", game, "--decisions", "300", "--seconds", "0", "--threads", "2")
    assert min(values["decisions_per_second"], values["scaling"], values["decisions"], values["bytes_per_row"]) > 0
    assert cli.main(["bench", "features", "--game", game, "--records", "here"]) == 2
    assert "leave it out" in capsys.readouterr().err


def test_fans_of_mcr_are_counted_beside_a_peer(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("hands", "--game", "mcr", "--hands", "40", "--seconds", "0")
    values = bench(capsys, *words)
    assert values["fan_counts_per_second"] > 0
    assert (values["hands"], values["peer_fan_counts_per_second"]) == (40, None)
    if find_spec("MahjongGB") is None:
        assert cli.main(["bench", *words, "--peer", "PyMahjongGB"]) == 1
        assert "pip install PyMahjongGB==1.4.0" in capsys.readouterr().err
    else:
        values = bench(capsys, *words, "--peer", "PyMahjongGB")
        assert values["times_faster"] == values["fan_counts_per_second"] / values["peer_fan_counts_per_second"]


def test_hands_and_features_report_rates(capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, "hands", "--hands", "40", "--seconds", "0")
    assert min(values["scores_per_second"], values["shanten_per_second"]) > 0
    values = bench(capsys, "features", "--decisions", "300", "--seconds", "0", "--threads", "2")
    assert values["observations_per_second"] >= values["decisions_per_second"] > 0
    assert min(values["without_lookahead_per_second"], values["scaling"]) > 0
    assert (values["bytes_per_row"], values["bytes_per_claim_row"]) == (3562, 4072)
    assert (values["threads"], values["decisions"], values["seed"]) == (2, 300, 0)


FAST = ("--size", "tiny", "--seconds", "0", "--device", "cpu", "--encoder", "mini")


def check_rates(values: dict[str, Any], batches: list[int]) -> None:
    assert [entry["batch"] for entry in values["batches"]] == batches
    for entry in (*values["batches"], values):
        assert entry["rows_per_second"] > 0
        share = entry["rows_per_second"] * values["flop_per_observation"] / values["peak_flop_per_second"]
        assert entry["peak_share"] == pytest.approx(share)
        assert 0 <= entry["waiting_share"] < 1
    assert values["rows_per_second"] == max(entry["rows_per_second"] for entry in values["batches"])
    assert values["batch"] in batches


def test_inference_reports_rates_beside_the_peak(capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, "inference", *FAST, "--batch", "8", "4", "--precision", "fp32")
    check_rates(values, [4, 8])
    assert (values["device"], values["threads"], values["size"], values["head"]) == ("cpu", 1, "tiny", "discard")
    assert (values["precision"], values["compilation"]) == ("fp32", "none")
    assert values["planes"] == "mini (288)"
    assert values["flop_per_observation"] == 2 * 34 * (3 * 288 * 32 + 3 * 2 * 3 * 32 * 32 + 32)
    assert values["parameters"] == 3 * 288 * 32 + 3 * 2 * 3 * 32 * 32 + 32 + 7 * 2 * 32


def test_training_runs_the_training_loop(capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, "training", *FAST, "--batch", "64", "--head", "chow", "--normalization", "none")
    check_rates(values, [64])
    assert (values["head"], values["planes"], values["normalization"]) == ("chow", "mini-claim (310)", "none")
    assert values["flop_per_observation"] > 2 * 2 * 34 * 3 * 310 * 32


def test_records_without_a_position_are_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.mjlog").write_text("no record")
    with pytest.raises(ValueError, match="has no position for this net: use other records"):
        collect_samples(tmp_path, 0, "mini", 10, seed=0, say=lambda _: None)


@pytest.mark.records
def test_samples_come_from_real_records(records: Path) -> None:
    samples = collect_samples(records / "rare-situations", 0, "mini", 100, seed=0, say=lambda _: None)
    assert samples.planes.shape == (100, 1224)
    assert samples.masks[np.arange(100), samples.labels].all()


def test_the_command_line_knows_all_encoders() -> None:
    assert tuple(ENCODERS) == arguments.ENCODERS


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_cuda_without_a_gpu_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "inference", "--device", "cuda"]) == 1
    assert capsys.readouterr().err.splitlines()[-1].endswith("this machine has no usable GPU: use auto or cpu")


@pytest.mark.gpu
@pytest.mark.parametrize("subject", ["inference", "training"])
def test_a_gpu_is_measured_too(subject: str, capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, subject, "--size", "tiny", "--seconds", "0.5", "--device", "cuda", "--batch", "64", "256")
    check_rates(values, [64, 256])
    assert (values["device"], values["compilation"], values["threads"]) == ("cuda", "default", None)


SMALL = ("--encoder", "mini", "--tables", "32", "--seconds", "1", "--rollout-fragment-length", "4", "--threads", "2")


@pytest.mark.slow
def test_end_to_end_stands_beside_what_its_parts_take_alone(capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, "selfplay", *SMALL)
    alone = values["alone"]
    assert values["ideal_decisions_per_second"] == pytest.approx(
        2 / (alone["simulator_seconds"] + alone["forward_seconds"])
    )
    assert values["ratio"] == pytest.approx(values["decisions_per_second"] / values["ideal_decisions_per_second"])
    all_cores = values["all_cores_decisions_per_second"]
    assert all_cores > 0
    assert values["ratio_to_all_cores"] == pytest.approx(values["decisions_per_second"] / all_cores)
    assert 0 < values["hanchans_per_second"] < values["decisions_per_second"] / 300
    assert values["observations_per_second"] > values["decisions_per_second"]
    assert set(alone["heads"]) >= {"discard", "chow", "pong"}
    for head in alone["heads"].values():
        assert head["observations_per_second"] > 0
        assert head["mean_batch"] <= 40
    for share in ("simulators", "engines", "buffer"):
        assert -0.01 < values["waiting_shares"][share] < 1
    assert values["waiting_shares"]["learner"] is None
    observation_bytes = 288 * 34 // 8
    assert observation_bytes < values["bytes_per_decision"]["request"] < 2 * observation_bytes
    assert 0 < values["bytes_per_decision"]["reply"] < 40
    assert values["bytes_per_decision"]["trajectory"] < values["bytes_per_decision"]["request"]
    assert values["memory_peak_bytes"]["process"] > 1e8


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.parametrize("engines", [2, 0])
def test_simulators_and_engines_may_be_processes(capsys: pytest.CaptureFixture[str], engines: int) -> None:
    values = bench(
        capsys, "selfplay", *SMALL, "--ray", "--simulators", "2", "--engines", str(engines), "--seconds", "5"
    )
    assert values["decisions_per_second"] > 0
    assert set(values["cores_used"]) == {"simulator", "engine", "buffer", "server", "driver", "raylet"}
    assert values["cpu_seconds"] > values["alone"]["simulator_seconds"]
    assert 0 < values["waiting_shares"]["driver"] < 1
    assert values["bytes_per_decision"]["trajectory"] > 100
    assert values["memory_peak_bytes"]["simulator_private"] < 500e6


def test_without_nets_the_ideal_is_the_simulator_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selfplay, "_WHOLE_GAMES", 2)
    monkeypatch.setattr(selfplay, "all_cores_rate", lambda case, policy_set: 1.0)
    values = bench(capsys, "selfplay", *SMALL, "--seconds", "0.2", "--net", "null")
    assert values["alone"]["forward_seconds"] == 0
    assert values["ideal_decisions_per_second"] == pytest.approx(2 / values["alone"]["simulator_seconds"])


def test_the_ideal_shares_all_cores() -> None:
    heads = {"discard": HeadCost(1.0, 100.0, 100.0)}
    assert Alone(0.001, 0.003, heads, 1000.0, is_on_gpu=False).ideal(2) == pytest.approx(500)
    assert Alone(0.001, 0.003, heads, 1000.0, is_on_gpu=True).ideal(2) == pytest.approx(1 / 0.003)
    assert Alone(0.001, 0.0001, heads, 1000.0, is_on_gpu=True).ideal(2) == pytest.approx(2000)
