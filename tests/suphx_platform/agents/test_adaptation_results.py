from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.training.adapter import TrialResults
from suphx_platform.agents.adaptation_experiment import KeptResults

EXPERIMENT: dict[str, Any] = {"agent": "a", "config": {"temperature": 1.0}}


def part(*points: float) -> TrialResults:
    base = np.array(points)
    return TrialResults(base, base + 1, base, base, base, base, base, base)


def test_the_results_of_a_file_are_those_that_were_added(tmp_path: Path) -> None:
    path = tmp_path / "some" / "results.jsonl"
    kept = KeptResults(path, EXPERIMENT, "code")
    assert kept.num_hands == 0
    kept.add(part(1.0, 2.0))
    kept.add(part(0.1))
    again = KeptResults(path, EXPERIMENT, "code")
    assert again.num_hands == 3
    assert again.results.base_points.tolist() == [1.0, 2.0, 0.1]
    assert again.results.adapted_points.tolist() == [2.0, 3.0, 1.1]
    again.add(part(7.0))
    assert KeptResults(path, EXPERIMENT, "code").results.base_points.tolist() == [1.0, 2.0, 0.1, 7.0]


@pytest.mark.parametrize("cut", [1, 20])
def test_a_line_that_a_kill_cut_off_is_dropped(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "results.jsonl"
    kept = KeptResults(path, EXPERIMENT, "code")
    kept.add(part(1.0))
    kept.add(part(2.0))
    path.write_bytes(path.read_bytes()[:-cut])
    again = KeptResults(path, EXPERIMENT, "code")
    assert again.results.base_points.tolist() == [1.0]
    again.add(part(3.0))
    assert KeptResults(path, EXPERIMENT, "code").results.base_points.tolist() == [1.0, 3.0]


@pytest.mark.parametrize("text", ["", '{"experiment": {"ag'])
def test_a_first_line_that_was_cut_off_is_written_again(tmp_path: Path, text: str) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(text)
    KeptResults(path, EXPERIMENT, "code").add(part(1.0))
    assert KeptResults(path, EXPERIMENT, "code").num_hands == 1


def test_results_of_two_commands_at_the_same_time_are_not_mixed(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    first, second = KeptResults(path, EXPERIMENT, "code"), KeptResults(path, EXPERIMENT, "code")
    first.add(part(1.0, 2.0))
    second.add(part(1.0, 2.0))
    with pytest.raises(ValueError, match=r"line 3, is damaged \(it has hand 0 instead of hand 2"):
        KeptResults(path, EXPERIMENT, "code")


def test_results_of_another_experiment_are_refused_and_stay(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    KeptResults(path, EXPERIMENT, "code").add(part(1.0))
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"another experiment \(config.temperature: 1.0 instead of 0.5\)"):
        KeptResults(path, EXPERIMENT | {"config": {"temperature": 0.5}}, "code")
    assert path.read_bytes() == before


def test_hands_that_other_code_has_played_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "results.jsonl"
    KeptResults(path, EXPERIMENT, "code").add(part(1.0))
    assert KeptResults(path, EXPERIMENT, "code").num_hands == 1
    assert caplog.messages == []
    assert KeptResults(path, EXPERIMENT, "newer").num_hands == 1
    assert caplog.messages == [
        f"{path} has hands that were played by other code: if it plays differently now, use another file"
    ]


@pytest.mark.parametrize(
    "text", ["games of mine\n", "[]\n", '{"agent": "a"}\n', '{"loss": 1.0}', "notes", "\n", "[" * 9999 + "\n"]
)
def test_other_files_are_refused_and_stay(tmp_path: Path, text: str) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(text)
    with pytest.raises(ValueError, match="not a file of"):
        KeptResults(path, EXPERIMENT, "code")
    assert path.read_text() == text


@pytest.mark.parametrize(
    "line",
    ["{}", "[1]", "nonsense", "[" * 9999, '{"base_points": [1.0]}', '{"base_points": ["x"]}', "KEYS OF ANOTHER LENGTH"],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "results.jsonl"
    kept = KeptResults(path, EXPERIMENT, "code")
    kept.add(part(1.0))
    whole = path.read_text()
    assert '"first_hand": 0' in whole
    if line.isupper():
        line = whole.splitlines()[1].replace('"base_points": [1.0]', '"base_points": [1.0, 2.0]')
    path.write_text(whole + line + "\n")
    with pytest.raises(ValueError, match="line 3, is damaged"):
        KeptResults(path, EXPERIMENT, "code")
