from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from suphx_pipelines.runs import runner as runner_module
from suphx_pipelines.runs.run_list import list_runs
from suphx_pipelines.runs.run_summary import RunSummary
from suphx_pipelines.runs.runner import Runner, wait_for_services
from suphx_pipelines.runs.stage import Stage, stage_seed
from suphx_pipelines.runs.verdict import Verdict
from suphx_platform.console.console import Console
from suphx_platform.storage.manifest import CheckpointVersion
from suphx_platform.storage.objects import ExpiredKeysError
from suphx_platform.storage.storage import Storage
from suphx_platform.tracking.tracking import TrackingStore
from tests.suphx_pipelines.runs import small_run
from tests.suphx_pipelines.runs.run_folder import running
from tests.suphx_pipelines.runs.run_trace import contents, tracked_runs, work
from tests.suphx_pipelines.runs.small_run import STAGES, Context, PowersConfig, SmallRecipe, small_runner, statuses
from tests.suphx_platform.tracking.empty_database import forget_everything

PROGRAM = Path(__file__).with_name("small_run.py")
ALL_WORK = {"numbers": 1, "powers": 1, "power 0": 1, "power 1": 1, "power 2": 1, "power 3": 1, "total": 1}


def test_a_run_does_every_stage_once_and_tracks_each_nested(runs: Path) -> None:
    runner = small_runner(runs)
    result = runner.run()
    assert statuses(result) == ["finished"] * 3
    assert work(result.folder) == ALL_WORK
    assert tracked_runs(runs) == [
        ("numbers", "FINISHED", True),
        ("powers", "FINISHED", True),
        (runner.run_id, "FINISHED", False),
        ("total", "FINISHED", True),
    ]
    assert list((runs / "artifacts").rglob("total.json"))
    assert list((runs / "artifacts").rglob("recipe.toml"))


def test_a_run_whose_output_has_no_reader_any_more_was_interrupted(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)

    def print_more() -> None:
        os.write(writer, b"more")

    runner = small_runner(runs, get_ready=print_more)
    with os.fdopen(writer, "w") as output, monkeypatch.context() as patch:
        patch.setattr("sys.stdout", output)
        with pytest.raises(BrokenPipeError):
            runner.run()
    summary = RunSummary.read(runner.folder)
    assert summary is not None
    assert (summary.state, summary.error) == ("interrupted", None)


def test_finished_stages_are_kept(runs: Path) -> None:
    first = small_runner(runs).run()
    again = small_runner(runs).run()
    assert again.run_id == first.run_id
    assert set(statuses(again)) == {"kept"}
    assert again.stages["total"].metrics == first.stages["total"].metrics
    assert work(again.folder) == ALL_WORK
    assert len(tracked_runs(runs)) == 4


def test_a_run_of_some_stages_keeps_what_is_known_of_the_others(runs: Path) -> None:
    verdict = Verdict(outcome="better", sentence="It is better.")
    runner = small_runner(runs, find_verdict=lambda metrics: verdict)
    runner.run()
    whole = RunSummary.read(runner.folder)
    assert whole is not None

    part = small_runner(runs, only=["numbers", "powers"]).run()
    assert statuses(part) == ["kept", "kept"]
    summary = RunSummary.read(runner.folder)
    assert summary is not None
    assert (summary.state, summary.verdict, summary.outcome) == ("finished", "It is better.", "better")
    assert summary.stages["total"] == whole.stages["total"]

    shutil.rmtree(runner.folder / "powers")
    assert statuses(small_runner(runs, only=["numbers", "powers"]).run()) == ["kept", "finished"]
    summary = RunSummary.read(runner.folder)
    assert summary is not None
    assert (summary.verdict, summary.stages["total"].status) == (None, "waiting")
    assert not (runner.folder / "total/done.json").exists()  # it was made from earlier powers
    assert statuses(small_runner(runs).run()) == ["kept", "kept", "finished"]


def test_a_stage_is_checked_before_any_begins_unless_it_has_a_result(runs: Path, tmp_path: Path) -> None:
    needed = tmp_path / "opponent"

    def check(recipe: SmallRecipe) -> None:
        if not needed.exists():
            raise FileNotFoundError(f"{recipe.name} misses {needed.name}")

    def runner(recipe: SmallRecipe) -> Runner[SmallRecipe]:
        return small_runner(runs, recipe, stages=[*STAGES[:2], replace(STAGES[2], check=check)])

    first = runner(SmallRecipe())
    with pytest.raises(FileNotFoundError, match="small misses opponent"):
        first.run()
    assert [*contents(first.folder)] == []
    assert list_runs(runs) == []
    needed.touch()
    first.run()
    needed.unlink()
    assert set(statuses(runner(SmallRecipe()).run())) == {"kept"}
    assert set(statuses(runner(SmallRecipe(name="renamed")).run())) == {"reused"}
    with pytest.raises(FileNotFoundError, match="small misses opponent"):
        runner(SmallRecipe(seed=8)).run()


def test_files_outside_of_the_run_are_an_input(runs: Path, tmp_path: Path) -> None:
    nets = tmp_path / "nets"

    def run(recipe: SmallRecipe) -> list[str]:
        stages = [STAGES[0], replace(STAGES[1], outside_files=lambda _: [nets]), STAGES[2]]
        return statuses(small_runner(runs, recipe, stages=stages).run())

    nets.write_text("one")
    run(SmallRecipe())
    assert run(SmallRecipe(name="renamed")) == ["reused", "reused", "reused"]
    nets.write_text("two")
    with pytest.raises(
        ValueError, match=r"powers of .* was made with other content of the files that the recipe names"
    ):
        run(SmallRecipe())
    assert run(SmallRecipe(name="another")) == ["reused", "finished", "finished"]
    nets.unlink()
    assert run(SmallRecipe()) == ["kept", "kept", "kept"]


def test_a_changed_recipe_key_redoes_only_what_depends_on_it(runs: Path) -> None:
    first = small_runner(runs).run()
    changed = small_runner(runs, SmallRecipe(powers=PowersConfig(exponent=3))).run()
    assert changed.run_id != first.run_id
    assert statuses(changed) == ["reused", "finished", "finished"]
    assert "numbers" not in work(changed.folder)
    assert changed.stages["numbers"].metrics == first.stages["numbers"].metrics
    assert changed.stages["total"].metrics != first.stages["total"].metrics
    everything = small_runner(runs, SmallRecipe(numbers=small_run.NumbersConfig(count=2))).run()
    assert set(statuses(everything)) == {"finished"}
    with_summary = [*STAGES[:2], replace(STAGES[2], is_summary=True)]
    again = small_runner(runs, SmallRecipe(name="renamed"), stages=with_summary).run()
    assert statuses(again) == ["reused", "reused", "finished"]


def test_a_key_that_only_says_how_work_is_done_continues_the_same_run(runs: Path) -> None:
    first = small_runner(runs, SmallRecipe(threads=1)).run()
    again = small_runner(runs, SmallRecipe(threads=2)).run()
    assert again.run_id == first.run_id
    assert set(statuses(again)) == {"kept"}
    assert "threads = 2" in (again.folder / "recipe.toml").read_text()


def test_what_was_made_from_a_result_that_somebody_deleted_is_made_again(runs: Path) -> None:
    folder = small_runner(runs).run().folder
    shutil.rmtree(folder / "powers")
    (folder / "total" / "of the old powers").touch()
    assert statuses(small_runner(runs).run()) == ["kept", "finished", "finished"]
    assert not (folder / "total" / "of the old powers").exists()
    assert set(statuses(small_runner(runs).run())) == {"kept"}


def test_a_result_is_reused_only_if_it_was_made_from_the_same_results(runs: Path) -> None:
    """Stages that end by time leave other nets each time, whatever their inputs."""
    first = small_runner(runs).run().folder
    other = SmallRecipe(powers=PowersConfig(exponent=3))
    small_runner(runs, other).run()
    done = first / "numbers" / "done.json"
    done.write_text(json.dumps(json.loads(done.read_text()) | {"seconds": 1000.0}))  # as if made again
    for run in runs.iterdir():
        if run != first and (run / "numbers").is_dir():
            shutil.rmtree(run / "numbers")
    third = small_runner(runs, other, run_id="third").run()
    assert statuses(third) == ["reused", "finished", "finished"]


def test_a_damaged_result_of_another_run_is_not_reused_and_ends_nothing(runs: Path) -> None:
    first = small_runner(runs).run().folder
    (first / "numbers" / "done.json").write_text("{")
    other = small_runner(runs, SmallRecipe(powers=PowersConfig(exponent=3))).run()
    assert set(statuses(other)) == {"finished"}


def test_changed_records_make_another_run(runs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "records"
    folder.mkdir()
    (folder / "a.mjlog").write_text("one")
    first = small_runner(runs, records=folder).run_id
    assert small_runner(runs, records=folder).run_id == first
    (folder / "a.mjlog").write_text("two")
    assert small_runner(runs, records=folder).run_id != first
    assert small_runner(runs).run_id != first


@pytest.mark.parametrize(
    ("point", "redone"),
    [
        ("numbers:end", {"numbers": 2}),  # the work is done, nothing says so yet
        ("powers:middle", {"powers": 2}),  # half of the work is done: the other half follows
        ("powers:done", {"powers": 2}),  # while the mark of being finished is written
    ],
)
def test_a_killed_run_continues_and_ends_with_the_same_stages(runs: Path, point: str, redone: dict[str, int]) -> None:
    child = subprocess.run([sys.executable, str(PROGRAM), str(runs), point], capture_output=True, text=True)
    assert child.returncode == -signal.SIGKILL, child.stderr
    result = small_runner(runs).run()
    assert work(result.folder) == ALL_WORK | redone
    assert result.stages["numbers"].status == ("finished" if point == "numbers:end" else "kept")
    assert {name for name, _, is_nested in tracked_runs(runs) if is_nested} == {"numbers", "powers", "total"}
    assert len(tracked_runs(runs)) == 4, "the same runs in MLflow are continued"
    assert {status for _, status, _ in tracked_runs(runs)} == {"FINISHED"}
    assert result.stages["total"].metrics == {"total": 7**2 + 8**2 + 9**2 + 10**2}


def test_a_stage_before_what_it_needs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="listed before powers, which it needs"):
        small_runner(tmp_path, stages=STAGES[2:])


def test_stages_have_different_seeds_that_depend_on_the_run() -> None:
    seeds = [stage_seed(1, "a"), stage_seed(1, "b"), stage_seed(2, "a")]
    assert len(set(seeds)) == 3
    assert all(0 <= seed < 2**56 for seed in seeds)


def test_a_storage_that_goes_away_after_its_first_answer_is_waited_for(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failures = [OSError("the storage does not answer")]

    def versions(self: Storage, name: str) -> list[CheckpointVersion]:
        if failures:
            raise failures.pop()
        return listed(self, name)

    listed = Storage.versions
    monkeypatch.setattr(Storage, "versions", versions)
    runner = small_runner(runs, storage=tmp_path / "storage", max_wait_hours=1)
    assert set(statuses(runner.run())) == {"finished"}
    assert "the storage does not answer; trying again for up to 1 h (--wait-hours)" in capsys.readouterr().err


def named(runs: Path, recipe: SmallRecipe, records: Path | None = None) -> Runner[SmallRecipe]:
    return small_runner(runs, recipe, records=records, run_id="mine")


def test_a_named_run_goes_on_with_its_settings_and_is_kept_from_others(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "a.mjlog").write_text("one")
    first = named(runs, SmallRecipe()).run()
    assert first.run_id == "mine"
    before = contents(first.folder)
    with pytest.raises(
        ValueError, match=r"mine was made with other settings: seed is 7 there, 8 here; powers.exponent is 2"
    ) as error:
        named(runs, SmallRecipe(seed=8, powers=PowersConfig(exponent=3))).run()
    assert "Use another --run-id" in str(error.value)
    with pytest.raises(ValueError, match="--records is 'none given' there"):
        named(runs, SmallRecipe(), tmp_path / "a.mjlog").run()
    assert contents(first.folder) == before
    assert {status for _, status, _ in tracked_runs(runs)} == {"FINISHED"}
    again = named(runs, SmallRecipe(threads=2)).run()
    assert set(statuses(again)) == {"kept"}


def test_a_named_run_is_kept_from_other_settings_on_a_machine_that_never_saw_it(runs: Path) -> None:
    first = named(runs, SmallRecipe()).run()
    shutil.rmtree(first.folder)
    with pytest.raises(ValueError, match=r"the run mine in MLflow .* seed is '7' there, '8' here"):
        named(runs, SmallRecipe(seed=8)).run()
    assert contents(first.folder) == {}


def test_a_folder_that_is_no_run_is_not_made_one(runs: Path) -> None:
    (runs / "mine" / "holiday").mkdir(parents=True)
    with pytest.raises(
        ValueError, match=r"mine is not a run: it contains holiday but no recipe\.toml; choose another --run-id"
    ):
        named(runs, SmallRecipe()).run()
    assert [path.name for path in (runs / "mine").iterdir()] == ["holiday"]


def test_warnings_of_a_stage_reach_the_console_the_result_and_the_summary(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def learn(context: Context) -> dict[str, float]:
        for _ in range(2):
            context.warn("the net has not learned")
        return {"loss": 1.0}

    stages = (Stage(name="numbers", run=learn),)
    for _ in range(2):
        result = small_runner(runs, stages=stages).run()
        assert list(result.warnings) == ["the net has not learned"]
        summary = RunSummary.read(result.folder)
        assert summary is not None
        assert summary.stages["numbers"].warnings == ["the net has not learned"]
    assert capsys.readouterr().err.count("warning: the net has not learned") == 3


def test_a_second_command_for_a_run_asks_no_service(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = small_runner(runs)
    runner.folder.mkdir(parents=True)
    monkeypatch.setattr(TrackingStore, "check", lambda *_: pytest.fail("MLflow was asked"))
    with running(runner.folder) as process, pytest.raises(ValueError, match=f"is being run by process {process}: wait"):
        runner.run()


def test_a_finished_run_that_mlflow_has_lost_is_tracked_again(runs: Path) -> None:
    first = small_runner(runs).run()
    forget_everything(runs)
    again = small_runner(runs).run()
    assert again.was_finished
    figures = TrackingStore(runs).newest_metrics(first.run_id)
    assert {"count": 4.0, "files": 4.0, "total": 294.0, "warnings": 0.0}.items() <= figures.items()
    assert len(list((runs / "artifacts").rglob("total.json"))) == 2
    assert {name for name, status, is_nested in tracked_runs(runs) if status == "FINISHED" and is_nested} == {
        "numbers", "powers", "total",
    }  # fmt: skip
    small_runner(runs).run()
    assert len(tracked_runs(runs)) == 4, "once"


class Clock:
    """Time that passes only where somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.pauses: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(runner_module, "time", clock)
    return clock


def answers(*errors: Exception) -> Callable[[], None]:
    """Return a call that raises each error once, then nothing."""
    left: Iterator[Exception] = iter(errors)

    def reach() -> None:
        if (error := next(left, None)) is not None:
            raise error

    return reach


def test_services_that_are_away_are_asked_again_until_the_limit(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    away = OSError("MLflow does not answer")
    wait_for_services(answers(*[away] * 8), 6.0, Console())
    assert clock.pauses == [1, 2, 4, 8, 16, 32, 60, 60]
    assert capsys.readouterr().err.count("MLflow does not answer; trying again for up to 6 h (--wait-hours)") == 1
    for errors, hours, pauses in (
        ([away] * 4, 5 / 3600, [1, 2, 2]),
        ([away], 0.0, []),
        ([PermissionError("wrong keys")], 6.0, []),
        ([ExpiredKeysError("old keys")], 6.0, []),
    ):
        clock.pauses.clear()
        with pytest.raises(type(errors[0])):
            wait_for_services(answers(*errors), hours, Console())
        assert clock.pauses == pauses
