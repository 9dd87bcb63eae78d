from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.games.riichi.fuzzing.fuzz_watchdog import Limits, Summary, do_chunk, watch
from tests.games.riichi.fuzzing.giant_input import GIANTS
from tests.games.riichi.fuzzing.record_fuzzer import OUTCOMES, SOUND, FuzzConfig, main, normalised, open_fuzzer
from tests.repository import REPOSITORY


def assert_nothing_found(summary: Summary) -> None:
    assert [f"input {finding.number}: {finding.what}\n{finding.detail}" for finding in summary.findings[:3]] == []


def test_thousands_of_damaged_inputs_end_as_games_or_in_clear_errors() -> None:
    with open_fuzzer(FuzzConfig(num_games=2)) as fuzzer:
        summary = do_chunk(fuzzer, range(3000))
    assert_nothing_found(summary)
    assert summary.num_done == 3000
    seen = {tuple(kind.split(": ")[:2]) for kind in summary.kinds}
    assert {outcome for _, outcome in seen} == set(OUTCOMES)
    assert len({form for form, outcome in seen if outcome == SOUND}) >= 12


def test_an_input_follows_from_its_number_alone(tmp_path: Path) -> None:
    config = FuzzConfig(num_games=1, stored=False)
    for name, numbers in (("a", (5, 6, 7)), ("b", (7,))):
        with open_fuzzer(config) as fuzzer:
            kinds = [list(fuzzer(number)) for number in numbers][-1]
            fuzzer.write(7, tmp_path / name)
    assert kinds
    first, second = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in "ab")
    assert first == second


def test_kinds_of_errors_have_no_numbers_or_names() -> None:
    assert normalised("tile 77 appears a second time") == "tile … appears a second time"
    assert normalised("unexpected key \ud800").isprintable()
    assert normalised("ten='a,b' has 3 numbers instead of 4") == "ten=… has … numbers instead of …"


def test_one_input_can_be_done_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "3", "--no-stored", "--json", "--keep", str(tmp_path / "files")]) == 0
    assert json.loads(capsys.readouterr().out)["records"] == 1


@pytest.mark.slow
def test_giants_are_refused_in_bounded_memory_and_time() -> None:
    make = functools.partial(open_fuzzer, FuzzConfig(num_games=1, stored=False))
    summary = watch(make, range(-len(GIANTS), 0), 1, limits=Limits(), chunk_size=1)
    assert_nothing_found(summary)
    assert not [kind for kind in summary.kinds if kind.split(": ")[1] == SOUND]


@pytest.mark.slow
def test_many_damaged_inputs_kill_no_process() -> None:
    summary = watch(functools.partial(open_fuzzer, FuzzConfig(seed=1)), range(20_000), 2, limits=Limits())
    assert_nothing_found(summary)
    assert summary.num_done == 20_000


@pytest.mark.slow
def test_no_kernel_reads_outside_its_arrays_for_damaged_games(tmp_path: Path) -> None:
    # A cache folder of its own: numba does not notice that compiled kernels lack the checks.
    arguments = ["--records", "3000", "--processes", "1", "--no-giants", "--seed", "2", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.games.riichi.fuzzing.record_fuzzer", *arguments],
        env={**os.environ, "NUMBA_BOUNDSCHECK": "1", "SUPHX_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        check=False,
    )
    figures = json.loads(done.stdout.splitlines()[-1])
    assert (figures["findings"], figures["bounds_checked"], figures["records"]) == ([], True, 3000)
