from __future__ import annotations

import functools
import json

import pytest

from tests.games.riichi.fuzzing.fuzz_watchdog import Summary, do_chunk, watch
from tests.suphx_pipelines.fuzzing.recipe_forms import recipe_forms
from tests.suphx_pipelines.fuzzing.run_forms import run_forms
from tests.suphx_pipelines.fuzzing.state_forms import state_forms
from tests.suphx_pipelines.fuzzing.state_fuzzer import LIMITS, figures, main, open_fuzzer

KINDS = [form.name for form in (*recipe_forms(), *run_forms(), *state_forms())]
QUICK = [*KINDS[:-3]]
"""Those that need no kernels: not the states of self-play, playouts and Deep Monte-Carlo."""


def assert_nothing_found(summary: Summary) -> None:
    assert [f"input {finding.number}: {finding.what}\n{finding.detail}" for finding in summary.findings[:3]] == []


def test_damaged_files_are_read_or_refused_with_an_error_that_says_why() -> None:
    with open_fuzzer(kinds=QUICK) as fuzzer:
        summary = do_chunk(fuzzer, range(600))
    assert_nothing_found(summary)
    found = figures(summary, 1.0)["kinds"]
    assert isinstance(found, dict)
    assert sorted(found) == sorted(QUICK)
    refused = {kind for kind, counts in found.items() if counts.get("refused")}
    assert refused == set(QUICK) - {"manifest"}  # a version whose manifest is damaged is skipped


def test_an_input_follows_from_its_number_alone() -> None:
    def outcomes(*numbers: int) -> list[str]:
        with open_fuzzer(kinds=["recipe", "manifest"]) as fuzzer:
            return [list(fuzzer(number)) for number in numbers][-1]

    assert outcomes(1, 2, 3) == outcomes(3)


def test_the_command_counts_inputs_by_kind_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "3", "--kind", "run.json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["inputs"], printed["kinds"]["run.json"]["inputs"], printed["num_findings"]) == (1, 1, 0)


@pytest.mark.slow
def test_many_damaged_files_of_every_kind_kill_no_process() -> None:
    summary = watch(functools.partial(open_fuzzer, 1), range(20_000), 2, limits=LIMITS)
    assert_nothing_found(summary)
    assert summary.num_done == 20_000
    assert sorted(figures(summary, 1.0)["kinds"]) == sorted(KINDS)  # type: ignore[call-overload]
