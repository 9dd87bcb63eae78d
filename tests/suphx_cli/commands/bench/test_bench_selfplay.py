from __future__ import annotations

import json
from typing import Any

import pytest

from suphx_cli import cli
from suphx_platform.bench.riichi.selfplay.selfplay_alone import Alone, HeadCost

SMALL = ("--encoder", "mini", "--tables", "32", "--seconds", "1", "--rollout-fragment-length", "4", "--threads", "2")


def bench(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert cli.main(["bench", "selfplay", *SMALL, *arguments, "--json"]) == 0, capsys.readouterr().err
    values: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return values


def test_end_to_end_stands_beside_what_its_parts_take_alone(capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, "--simulators", "2", "--engines", "1")
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
    values = bench(capsys, "--ray", "--simulators", "2", "--engines", str(engines), "--seconds", "5")
    assert values["decisions_per_second"] > 0
    assert set(values["cores_used"]) == {"simulator", "engine", "buffer", "server", "driver", "raylet"}
    assert values["cpu_seconds"] > values["alone"]["simulator_seconds"]
    assert 0 < values["waiting_shares"]["driver"] < 1
    assert values["bytes_per_decision"]["trajectory"] > 100
    assert values["memory_peak_bytes"]["simulator_private"] < 500e6


def test_without_nets_the_ideal_is_the_simulator_alone(capsys: pytest.CaptureFixture[str]) -> None:
    values = bench(capsys, "--net", "null")
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
