"""A run is never silent: every phase of it, the short ones too, shows something that moves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from suphx_pipelines.pipeline import run_recipe
from suphx_platform.console.console import Console
from suphx_platform.console.progress import Progress
from tests.suphx_pipelines.recipe.small_laptop import RECIPE, SMALL
from tests.suphx_pipelines.recipe.small_recipe import load_recipe


class WatchedConsole(Console):
    """Writes down what is shown, and how far each bar came."""

    def __init__(self) -> None:
        super().__init__()
        self.phases: list[str] = []
        self.bars: dict[str, Progress] = {}

    @contextmanager
    def progress(self, unit: str, total: float | None = None, name: str = "", note: str = "") -> Iterator[Progress]:
        self.phases.append(name)
        with super().progress(unit, total, name, note) as progress:
            self.bars[name] = progress
            yield progress

    @contextmanager
    def activity(self, name: str) -> Iterator[None]:
        self.phases.append(name)
        with super().activity(name):
            yield


def test_every_phase_of_a_run_is_shown(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changes = {"learning_curve.games": "[]", "ablation.encoders": "[]", "supervised.max_steps": "4"}
    recipe = load_recipe(RECIPE, [*(SMALL | changes).items()])
    console = WatchedConsole()
    result = run_recipe(recipe, records=None, runs=runs, console=console)
    work = [phase for phase in console.phases if not phase.endswith(": saving")]
    assert work == [
        "opening the MLflow store",
        "playing",
        "checking",
        *("kong", "riichi", "chow", "pong", "discard"),
        "match",
        "playing a game to look at",
        "asking the agent",
        "looking for the best and the worst games of the match",
        "drawing the report",
    ]
    assert all(bar.done == pytest.approx(bar.total) for bar in console.bars.values())
    assert console.bars["playing"].total == 24
    assert console.bars["kong"].note == "test"
    assert result.run.verdict is not None
    assert result.run.verdict.sentence.startswith("Too few games to decide who is stronger")
    assert any("has made only 4 training steps" in warning for warning in result.run.warnings)
    assert "[1/9] records: running" in capsys.readouterr().err
