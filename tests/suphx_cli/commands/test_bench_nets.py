"""``suphx bench`` of what plays with nets: options, figures and mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from suphx.games.riichi.features.encoder import ENCODERS
from suphx_cli import arguments, cli
from suphx_platform.bench.nets import NetCase, collect_samples, measure_peak
from suphx_platform.bench.selfplay_alone import Alone, HeadCost
from tests.selfplay.small_policy_set import save_random
from tests.suphx_cli.commands.bench_command import bench

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
    values = bench(capsys, "inference", *FAST, "--batch", "8", "4", "--precision", "fp32", "--convolution", "conv1d")
    check_rates(values, [4, 8])
    assert (values["device"], values["threads"], values["size"], values["head"]) == ("cpu", 1, "tiny", "discard")
    assert (values["precision"], values["convolution"], values["compilation"]) == ("fp32", "conv1d", "none")
    assert values["planes"] == "mini (288)"
    assert values["flop_per_observation"] == 2 * 34 * (3 * 288 * 32 + 3 * 2 * 3 * 32 * 32 + 32)
    assert values["parameters"] == 3 * 288 * 32 + 3 * 2 * 3 * 32 * 32 + 32 + 7 * 2 * 32


def test_training_runs_the_training_loop(capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, "training", *FAST, "--batch", "64", "--head", "chow", "--normalization", "none")
    check_rates(values, [64])
    assert (values["head"], values["planes"], values["normalization"]) == ("chow", "mini-claim (310)", "none")
    assert values["flop_per_observation"] > 2 * 2 * 34 * 3 * 310 * 32


def test_a_small_batch_alone_can_be_measured(capsys: pytest.CaptureFixture[str]) -> None:
    check_rates(bench(capsys, "training", *FAST, "--batch", "4"), [4])


def test_by_default_the_paper_net_is_measured_on_the_paper_planes() -> None:
    case = NetCase()
    assert (case.size, case.head, case.layout.num_planes) == ("paper", "discard", 838)


def test_an_unknown_encoder_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["bench", "training", "--encoder", "maxi"])
    assert "invalid choice: 'maxi': use one of mini, suphx" in capsys.readouterr().err


def test_records_without_a_position_are_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.mjlog").write_text("no record")
    with pytest.raises(ValueError, match="has no position for this net: use other records"):
        collect_samples(tmp_path, 0, "mini", 10, seed=0, say=lambda _: None)


@pytest.mark.records
def test_samples_come_from_real_records(records: Path) -> None:
    samples = collect_samples(records / "rare-situations", 0, "mini", 100, seed=0, say=lambda _: None)
    assert samples.planes.shape == (100, 1224)
    assert samples.masks[np.arange(100), samples.labels].all()


def test_the_peak_is_that_of_a_matrix_product() -> None:
    assert measure_peak(torch.device("cpu"), torch.float32, seconds=0) > 1e8


def test_the_command_line_knows_all_encoders() -> None:
    assert tuple(ENCODERS) == arguments.ENCODERS


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_cuda_without_a_gpu_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "inference", "--device", "cuda"]) == 1
    assert capsys.readouterr().err.splitlines()[-1].endswith("this machine has no usable GPU: use auto or cpu")


@pytest.mark.slow
@pytest.mark.parametrize("subject", ["inference", "training"])
def test_compiled_nets_are_measured_too(subject: str, capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, subject, *FAST, "--batch", "16", "--compile", "default")
    check_rates(values, [16])
    assert values["compilation"] == "default"


@pytest.mark.gpu
@pytest.mark.parametrize("subject", ["inference", "training"])
def test_a_gpu_is_measured_too(subject: str, capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, subject, "--size", "tiny", "--seconds", "0.5", "--device", "cuda", "--batch", "64", "256")
    check_rates(values, [64, 256])
    assert (values["device"], values["compilation"], values["threads"]) == ("cuda", "default", None)


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


SMALL = ("--encoder", "mini", "--tables", "32", "--seconds", "1", "--rollout-fragment-length", "4", "--threads", "2")


def bench_selfplay(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert cli.main(["bench", "selfplay", *SMALL, *arguments, "--json"]) == 0, capsys.readouterr().err
    values: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return values


def test_end_to_end_stands_beside_what_its_parts_take_alone(capsys: pytest.CaptureFixture[str]) -> None:
    values = bench_selfplay(capsys, "--simulators", "2", "--engines", "1")
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
    values = bench_selfplay(capsys, "--ray", "--simulators", "2", "--engines", str(engines), "--seconds", "5")
    assert values["decisions_per_second"] > 0
    assert set(values["cores_used"]) == {"simulator", "engine", "buffer", "server", "driver", "raylet"}
    assert values["cpu_seconds"] > values["alone"]["simulator_seconds"]
    assert 0 < values["waiting_shares"]["driver"] < 1
    assert values["bytes_per_decision"]["trajectory"] > 100
    assert values["memory_peak_bytes"]["simulator_private"] < 500e6


def test_without_nets_the_ideal_is_the_simulator_alone(capsys: pytest.CaptureFixture[str]) -> None:
    values = bench_selfplay(capsys, "--net", "null")
    assert values["alone"]["forward_seconds"] == 0
    assert values["ideal_decisions_per_second"] == pytest.approx(2 / values["alone"]["simulator_seconds"])


def test_the_ideal_shares_all_cores_and_a_pipeline_is_as_fast_as_its_slowest_kind() -> None:
    heads = {"discard": HeadCost(1.0, 100.0, 100.0)}
    on_cpu = Alone(0.001, 0.003, heads, 1000.0, is_on_gpu=False)
    assert on_cpu.ideal(2) == pytest.approx(500)
    assert on_cpu.pipelined(2, 1, 1) == pytest.approx(1 / 0.003)
    assert on_cpu.pipelined(2, 1, 2) == pytest.approx(500)
    on_gpu = Alone(0.001, 0.003, heads, 1000.0, is_on_gpu=True)
    assert on_gpu.ideal(2) == pytest.approx(1 / 0.003)
    assert Alone(0.001, 0.0001, heads, 1000.0, is_on_gpu=True).ideal(2) == pytest.approx(2000)
