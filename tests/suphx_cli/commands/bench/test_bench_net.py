from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from suphx.games.riichi.features.encoder import ENCODERS
from suphx_cli import cli
from suphx_cli.arguments import parsing
from suphx_platform.bench.peak import measure_peak
from suphx_platform.bench.riichi.net_case import NetCase, collect_samples
from tests.suphx_cli.commands.bench.bench_command import bench

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
    assert tuple(ENCODERS) == parsing.ENCODERS


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
