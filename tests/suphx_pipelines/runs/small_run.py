"""A small real pipeline for the runner's tests, and a program that runs it and kills itself where it is told to.

As a program: ``small_run.py RUNS KILL_POINT``, where a kill point is ``STAGE:middle``, ``STAGE:end`` or ``STAGE:done``.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

from suphx_pipelines.recipe.recipe_file import AnyRecipe
from suphx_pipelines.runs.runner import Runner, RunResult
from suphx_pipelines.runs.stage import Stage, StageContext
from suphx_platform.console.console import Console
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.tracking import Tracker

KILL = "SUPHX_TEST_KILL"


@dataclass(frozen=True, slots=True, kw_only=True)
class NumbersConfig:
    count: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class PowersConfig:
    exponent: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallRecipe(AnyRecipe):
    name: str = "small"
    seed: int = 7
    numbers: NumbersConfig = field(default_factory=NumbersConfig)
    powers: PowersConfig = field(default_factory=PowersConfig)
    threads: int = 1
    free_keys: ClassVar[tuple[str, ...]] = ("threads",)


Context = StageContext[SmallRecipe]


def die_if_told(stage: str, point: str) -> None:
    if os.environ.get(KILL) == f"{stage}:{point}":
        os.kill(os.getpid(), signal.SIGKILL)


def note(context: Context, text: str) -> None:
    """Write down what is done, outside of the stage's folder, so that tests can count it."""
    with (context.folder.parent / "work.log").open("a") as log:
        log.write(text + "\n")


def make_numbers(context: Context) -> dict[str, float]:
    note(context, "numbers")
    numbers = [context.recipe.seed + n for n in range(context.recipe.numbers.count)]
    (context.folder / "numbers.json").write_text(json.dumps(numbers))
    die_if_told("numbers", "end")
    return {"count": len(numbers)}


def raise_to_power(context: Context) -> dict[str, float]:
    """One file a number: a file that is there is not made again."""
    note(context, "powers")
    numbers = json.loads((context.upstream["numbers"] / "numbers.json").read_text())
    for index, number in enumerate(numbers):
        path = context.folder / f"{index}.txt"
        if not path.exists():
            note(context, f"power {index}")
            path.write_text(str(number**context.recipe.powers.exponent))
        context.tracker.log_metrics({"power": float(path.read_text())}, step=index)
        context.keep(index)
        if index == 1:
            die_if_told("powers", "middle")
    return {"files": len(numbers)}


def add_up(context: Context) -> dict[str, float]:
    note(context, "total")
    total = sum(int(path.read_text()) for path in sorted(context.upstream["powers"].glob("*.txt")))
    (context.folder / "total.json").write_text(json.dumps(total))
    return {"total": total}


STAGES = (
    Stage(name="numbers", run=make_numbers, recipe_keys=("numbers",), reads_records=True),
    Stage(name="powers", run=raise_to_power, recipe_keys=("powers.exponent",), needs=("numbers",)),
    Stage(name="total", run=add_up, needs=("powers",), artifacts=("*.json",)),
)


def small_runner(
    runs: Path,
    recipe: SmallRecipe | None = None,
    *,
    stages: Sequence[Stage[SmallRecipe]] = STAGES,
    records: Path | None = None,
    storage: Path | None = None,
    **more: Any,
) -> Runner[SmallRecipe]:
    kept = None if storage is None else Storage(StorageConfig(address=str(storage)))
    return Runner(recipe or SmallRecipe(), stages, runs=runs, records=records, console=Console(), storage=kept, **more)


def context_of(recipe: Any, tracker: Tracker, folder: Path, **upstream: Path) -> StageContext[Any]:
    """Return the context of a stage in a new folder, without a runner."""
    folder.mkdir(parents=True, exist_ok=True)
    return StageContext(
        folder=folder,
        recipe=recipe,
        upstream=upstream,
        records=None,
        tracker=tracker,
        console=Console(),
        seed=3,
        storage_name="",
        keep=lambda number, then=None: None,
    )


def statuses(result: RunResult) -> list[str]:
    return [stage.status for stage in result.stages.values()]


def main() -> None:
    runs, point = Path(sys.argv[1]), sys.argv[2]
    os.environ[KILL] = point
    stage = point.partition(":")[0]
    replace = os.replace

    def replace_or_die(source: Any, target: Any) -> None:
        if Path(target).name == "done.json" and Path(target).parent.name == stage:
            die_if_told(stage, "done")
        replace(source, target)

    with mock.patch.object(os, "replace", replace_or_die):
        small_runner(runs).run()


if __name__ == "__main__":
    main()
