"""Every script measures something on small inputs, and prints one JSON object."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from benchmarks import environments, sequential, storage
from suphx.json_text import parse_json
from tests.evaluation.simulated_walls import NORMAL_WALLS


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Any:
    """Return a function that runs a script with these words and returns what it prints."""

    def run(script: ModuleType, *words: str) -> dict[str, Any]:
        monkeypatch.setattr(sys, "argv", ["script", *words])
        script.main()
        values: dict[str, Any] = parse_json(capfd.readouterr().out)
        return values

    return run


def test_steps_stand_beside_those_of_a_peer(measured: Any) -> None:
    values = measured(environments, "--tables", "4", "--steps", "2", "--seconds", "0", "--peer", "riichienv")
    peer = values["peers"]["riichienv"]
    for name in ("steps", "every_seat_steps"):
        assert peer[f"ratio_of_{name}"] == pytest.approx(values[f"{name}_per_second"] / peer[f"{name}_per_second"])
    assert values["unpacked_steps_per_second"] > 0


def test_a_training_state_is_saved_loaded_and_removed(tmp_path: Path, measured: Any) -> None:
    words = ("--size", "tiny", "--encoder", "mini", "--rounds", "2")
    values = measured(storage, "--address", str(tmp_path / "storage"), *words)
    assert min(values["save_mib_per_second"], values["load_mib_per_second"], values["mib"]) > 0
    assert not [path for path in (tmp_path / "storage").rglob("*") if path.is_file()]


def test_matches_are_simulated_from_the_walls_of_a_real_one() -> None:
    values = sequential.simulate(NORMAL_WALLS, differences=[0.5, 0.3], errors=[0.05], matches=100, seed=0)
    kinds = [(row["difference"], row["true_difference"]) for row in values["rows"]]
    assert kinds == [(0.5, 0), (0.5, -0.5), (0.5, -1), (0.3, 0), (0.3, -0.3), (0.3, -0.6)]
    assert values["difference"] == pytest.approx(np.mean(NORMAL_WALLS) / 4)
    for equal, better in zip(values["rows"][::3], values["rows"][1::3], strict=True):
        assert equal["better"] < 0.15 < 0.85 < better["better"]
    assert values["rows"][0]["mean_hanchans"] < values["rows"][3]["mean_hanchans"], "a smaller difference takes longer"
