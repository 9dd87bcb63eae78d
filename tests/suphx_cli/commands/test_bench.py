"""``suphx bench``: options, figures and mistakes."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import Any

import pytest
import torch

from suphx.games.riichi.features.encoder import ENCODERS
from suphx_cli import arguments, cli
from suphx_platform.bench import selfplay
from suphx_platform.bench.selfplay import Alone, HeadCost


def bench(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Run ``suphx bench`` in this process and return its JSON."""
    assert cli.main(["bench", *arguments, "--json"]) == 0, capsys.readouterr().err
    values: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return values


@pytest.mark.parametrize(
    ("words", "rates", "others"),
    [
        (
            "simulator --hanchans 8 --skip-start --threads 2 --seed 5",
            "hanchans_per_second decisions_per_second kyoku_per_hanchan scaling",
            {"threads": 2, "hanchans": 8, "seed": 5, "cold_start_seconds": None},
        ),
        ("simulator --game dazhong", "hands_per_second match_hands_per_second", {}),
        ("simulator --game mcr", "games_per_second match_games_per_second", {}),
        ("hands --hands 40", "scores_per_second shanten_per_second", {"hands": 40}),
        ("hands --game mcr --hands 40", "fan_counts_per_second mean_fan", {"hands": 40}),
        (
            "features --decisions 300 --threads 2",
            "decisions_per_second observations_per_second without_lookahead_per_second scaling",
            {"bytes_per_row": 3562, "bytes_per_claim_row": 4072, "decisions": 300},
        ),
        ("features --game dazhong --decisions 300 --threads 2", "decisions_per_second scaling bytes_per_row", {}),
        ("features --game mcr --decisions 300 --threads 2", "decisions_per_second scaling bytes_per_row", {}),
    ],
)
def test_rules_hands_and_features_report_rates(
    words: str, rates: str, others: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    values = bench(capsys, *words.split(), "--seconds", "0")
    assert min(values[name] for name in rates.split()) > 0
    assert {name: values[name] for name in others} == others


def test_fans_of_mcr_are_counted_beside_a_peer(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("hands", "--game", "mcr", "--hands", "40", "--seconds", "0", "--peer", "PyMahjongGB")
    if find_spec("MahjongGB") is None:
        assert cli.main(["bench", *words]) == 1
        assert "pip install PyMahjongGB==1.4.0" in capsys.readouterr().err
    else:
        values = bench(capsys, *words)
        assert values["times_faster"] == values["fan_counts_per_second"] / values["peer_fan_counts_per_second"]
    assert cli.main(["bench", "hands", "--peer", "PyMahjongGB"]) == 2
    assert "omit it" in capsys.readouterr().err


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
    alone, rate = values["alone"], values["decisions_per_second"]
    ideal, all_cores = values["ideal_decisions_per_second"], values["all_cores_decisions_per_second"]
    assert ideal == pytest.approx(2 / (alone["simulator_seconds"] + alone["forward_seconds"]))
    assert [values["ratio"], values["ratio_to_all_cores"]] == pytest.approx([rate / ideal, rate / all_cores])
    assert 0 < values["hanchans_per_second"] < rate / 300
    assert set(alone["heads"]) >= {"discard", "chow", "pong"}
    for share in ("simulators", "engines", "buffer"):
        assert -0.01 < values["waiting_shares"][share] < 1
    observation_bytes = 288 * 34 // 8
    assert observation_bytes < values["bytes_per_decision"]["request"] < 2 * observation_bytes
    assert values["bytes_per_decision"]["trajectory"] < values["bytes_per_decision"]["request"]


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
