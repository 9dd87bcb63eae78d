from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from suphx.models.tensor_file import read_tensors
from suphx.selfplay.agents.agent import load_agent
from suphx_pipelines.json_file import read_json
from suphx_pipelines.pipeline import run_recipe
from suphx_pipelines.stages.reinforcement import first_policy_sets, progress_note
from suphx_platform.console.console import Console
from tests.repository import RECIPES
from tests.suphx_pipelines.recipe.small_recipe import SMALL, small_recipe
from tests.suphx_pipelines.stages.result_files_page import PAGE

pytestmark = pytest.mark.usefixtures("short_games")


def test_self_play_from_random_weights_runs_from_recipe_to_report(runs: Path) -> None:
    recipe = small_recipe()
    done = run_recipe(recipe, records=None, runs=runs, console=Console())
    assert list(done.stages) == ["reinforcement", "sample_game", "report"]
    metrics = done.stages["reinforcement"].metrics
    assert metrics["updates"] == 4
    assert "start_difference" in metrics
    folder = done.folder / "reinforcement"
    load_agent(str(folder))
    written = read_json(folder / "metrics.json")
    documented = re.findall(r"\w+", PAGE.read_text(encoding="utf-8"))
    assert {*written, *written["decisions_of_buffer"], *written["matches"][0]} <= set(documented)
    history = written["history"]
    assert [point["updates"] for point in history] == [2, 4]
    note = progress_note(history[-1], "discard")
    for part in ("update 4", "entropy", "KL to start", "critic explains", "staleness"):
        assert part in note
    page = done.report.read_text(encoding="utf-8")
    assert "Self-play" in page
    assert "The best and the worst games of the last match against initial nets (8 hanchans)" in page
    for name in ("game_best_1.html", "game_best_2.html", "game_worst_1.html", "game_worst_2.html"):
        assert f'<a href="{name}">' in page
        assert (done.report.parent / name).is_file()
    again: Any = run_recipe(recipe, records=None, runs=runs, console=Console())
    assert {stage.status for stage in again.stages.values()} == {"kept"}


def test_a_start_temperature_sharpens_the_nets_that_learn_and_no_others() -> None:
    plain, sharp = (
        first_policy_sets(cast(Any, SimpleNamespace(recipe=recipe, seed=5, upstream={})))[0].nets
        for recipe in (small_recipe(), small_recipe(**{"reinforcement.start_temperature": "0.5"}))
    )
    for before, after in zip(plain, sharp, strict=True):
        factor = 2 if before.kind.name == "discard" else 1
        old, new = (list(cast(Any, net.output).last.parameters()) for net in (before, after))
        assert old
        assert all(torch.equal(second, factor * first) for first, second in zip(old, new, strict=True))


OVER_RAY = {
    "reinforcement.max_updates": "30",
    "reinforcement.save_seconds": "0",
    "reinforcement.cluster.on_ray": "true",
    "reinforcement.cluster.num_simulators": "2",
}


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.parametrize(("by", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 130)])
def test_a_killed_command_leaves_no_process_and_goes_on_when_it_is_typed_again(
    tmp_path: Path, by: signal.Signals, code: int
) -> None:
    settings = [f"--set={key}={value}" for key, value in (SMALL | OVER_RAY).items()]
    command = [sys.executable, "-m", "suphx_cli.cli", "run", str(RECIPES / "reinforcement.toml"), *settings]
    command += ["--runs", str(tmp_path)]
    first = subprocess.Popen(command, start_new_session=True)
    (state,) = _wait_for(lambda: list(tmp_path.glob("*/reinforcement/reinforcement_state.safetensors")))
    saved = _wait_for(lambda: [n for n in [_updates(state)] if n >= 4])[0]
    processes = _descendants(first.pid)
    assert len(processes) > 5
    os.kill(first.pid, by)
    assert first.wait() == code
    _wait_for(lambda: [True] if not any(_is_alive(process) for process in processes) else [])
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    metrics = read_json(state.parent / "metrics.json")
    assert metrics["updates"] >= 30
    points = [point["updates"] for point in metrics["history"]]
    assert points == sorted(set(points))
    assert points[0] == 2 <= saved, f"the first run's curve is lost: {done.stderr}"
    versions = [point["version"] for point in metrics["history"]]
    assert versions == sorted(versions)


def _updates(state: Path) -> int:
    return int(read_tensors(state)[1]["progress"]["updates"])


def _wait_for(look: Callable[[], list[Any]]) -> list[Any]:
    """Look again and again, for three minutes at most, until something is found."""
    end = time.monotonic() + 180
    while not (found := look()):
        assert time.monotonic() < end, "nothing came of it in three minutes"
        time.sleep(0.2)
    return found


def _descendants(process: int) -> list[int]:
    """Return the processes that ``process`` started, and those that they started; Linux only."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
            parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, open_ones = [], [process]
    while open_ones:
        children = parents.get(open_ones.pop(), [])
        found += children
        open_ones += children
    return found


def _is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
