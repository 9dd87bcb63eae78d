from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.games.dazhong.experiment import PlayedHands, play_order
from suphx.json_text import parse_json
from suphx_pipelines import fanfou
from suphx_pipelines.fanfou import measure_group
from suphx_pipelines.pipeline import run_recipe
from suphx_pipelines.recipe.recipe import FanfouConfig
from suphx_pipelines.recipe.recipe_kind import load_run_recipe
from suphx_platform.console.console import Console


def test_figures_of_a_group() -> None:
    # By hand: who won, who dealt in (-1: nobody), in two orders on the same walls.
    orders = []
    for agents, winners, losers in (
        (("ba", "op", "robot", "robot"), [1, 1, 0, 2, -1], [0, -1, 3, 1, -1]),
        (("robot", "op", "ba", "robot"), [1, 2, 0, 1, 1], [0, 3, 2, 2, -1]),
    ):
        wins = np.array([[int(winner == seat) for seat in range(4)] for winner in winners], np.int8)
        fan = 6 * wins.astype(np.int32) - 2 * (np.array(losers)[:, None] == np.arange(4))
        orders.append(PlayedHands(agents, np.arange(5), wins, np.array(losers, np.int8), fan))
    result = measure_group(orders, ("ba", "op"))
    assert (result.hands, result.decided, result.self_drawn) == (10, 9, 2)
    assert result.wins == {"ba": 2, "op": 5, "robot": 2}
    assert result.deal_ins == {"ba": 3, "op": 1, "robot": 3}
    assert result.win_difference.mean == pytest.approx(3 / 9)
    assert result.win_difference.num_clusters == 5
    assert result.deal_in_difference.mean == pytest.approx(-2 / 7)
    assert result.fan["robot"] == pytest.approx((2 * 6 - 3 * 2) / 2 / 10)
    assert result.fan_difference.mean == pytest.approx(result.fan["op"] - result.fan["ba"])


def test_an_experiment_that_was_killed_resumes_with_the_same_figures(
    new_runs: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    small = [(f"fanfou.{part}hands", value) for part, value in (("", "[9,0,9]"), ("common_", "[0,0,0]"))]
    small.append(("fanfou.payment_hands", "[7,0,0]"))

    def run(runs: Path, threads: int) -> Path:
        recipe = load_run_recipe(Path("fanfou"), [*small, ("fanfou.threads", str(threads))])
        run_recipe(recipe, records=None, runs=runs, console=Console(), run_id="run")
        return runs / "run"

    orders = iter(range(100))

    def play(*arguments: Any, **options: Any) -> PlayedHands:
        if next(orders) == 5:
            raise KeyboardInterrupt
        return play_order(*arguments, **options)

    monkeypatch.setattr(fanfou, "play_order", play)
    killed = new_runs("killed")
    with pytest.raises(KeyboardInterrupt):
        run(killed, 1)
    folder, other = run(killed, 1), run(new_runs("other"), 8)
    groups = [parse_json((folder / stage / "group.json").read_bytes()) for stage in ("group_1", "group_3")]
    assert groups == [parse_json((other / stage / "group.json").read_bytes()) for stage in ("group_1", "group_3")]
    assert next(orders) == 2 * 28 + 5 + 1  # each order once in a run, five to compile, and the interrupted one
    assert sum(groups[0]["own"]["wins"].values()) == groups[0]["own"]["decided"] == 12 * 9
    page = (folder / "report" / "report.html").read_text(encoding="utf-8")
    assert "Group 1, own walls: " in page
    assert "+9.76" in page  # the paper's


def test_an_experiment_without_hands_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to play"):
        FanfouConfig(hands=(0, 0, 0), common_hands=(0, 0, 0), payment_hands=(0, 0, 0))
