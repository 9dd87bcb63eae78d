"""Tasks in a thread of their own, without Ray."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from suphx.evaluation.game_runner import FORFEITS, GamePlan
from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.rules import tonpuu
from suphx.selfplay.agents.agent import load_agent
from suphx_platform.evaluation.game_workers import FinishedTask, GamePlayer
from tests.suphx_platform.evaluation.slow_tasks import TASKS, scores

LONG = 60.0


def new_plan(*, num_tables: int = 2, records: Path | None = None, summarise: Any = scores) -> GamePlan:
    return GamePlan(
        addresses=("random",),
        names=("0",),
        rules=tonpuu(),
        summarise=summarise,
        num_tables=num_tables,
        records=records,
    )


def play(player: GamePlayer, indices: list[int]) -> dict[int, FinishedTask]:
    """Give one task whenever there is room, as a pool does, and return what came of all."""
    found: dict[int, FinishedTask] = {}
    waiting = list(indices)
    answer = player.exchange([], is_last=False, seconds=LONG)
    while len(found) < len(indices):
        tasks = [(index, TASKS[index]) for index in waiting[:1]] if answer.has_room else []
        answer = player.exchange(tasks, is_last=answer.has_room and not waiting, seconds=LONG)
        waiting = waiting[len(tasks) :]
        found |= {each.index: each for each in answer.finished}
    return found


@pytest.mark.parametrize("num_tables", [1, 2, 5])
def test_tasks_are_played_as_in_one_process_however_many_side_by_side(num_tables: int) -> None:
    plan = new_plan(num_tables=num_tables)
    agents = plan.load_agents()
    expected = dict(plan.play_tasks(agents, iter(enumerate(TASKS)), lambda games: None))
    player = GamePlayer(plan, agents)
    first, second = play(player, [3, 0, 7, 1]), play(player, [2])  # again after the last one
    assert {index: task.summary for index, task in {**first, **second}.items()} == {
        index: expected[index] for index in (0, 1, 2, 3, 7)
    }


def test_an_answer_comes_in_time_also_when_nothing_is_finished() -> None:
    player = GamePlayer(new_plan(), [load_agent("random")])
    assert player.exchange([], is_last=False, seconds=LONG).has_room
    assert player.exchange([], is_last=False, seconds=0.0).finished == []


def test_records_come_with_the_task_and_leave_nothing_behind(tmp_path: Path) -> None:
    records = tmp_path / "games"
    player = GamePlayer(new_plan(records=records), [load_agent("random")])
    found = play(player, [0, 1])
    assert not records.exists(), "this is for whoever gets the task"
    path = tmp_path / "walls-0.tsv.xz"
    assert found[0].records is not None
    path.write_bytes(found[0].records)
    quarantine = Quarantine()
    logs = list(iter_records([path], quarantine=quarantine))
    assert (len(logs), quarantine.count) == (2, 0)
    assert [log.final_scores for log in logs] == found[0].summary["scores"]
    assert player._records is not None
    folder = Path(player._records.name)
    assert not list(folder.iterdir())
    player.close()
    assert not folder.exists()


def test_an_error_of_a_task_is_raised_in_whoever_asks() -> None:
    def refuse(plan: object, games: object, forfeited: object) -> dict[str, object]:
        raise ValueError("no summary")

    player = GamePlayer(new_plan(summarise=refuse), [load_agent("random")])
    for _ in range(2):
        with pytest.raises(ValueError, match="no summary"):
            player.exchange([(0, TASKS[0])], is_last=True, seconds=LONG)


def test_nothing_is_added_to_a_summary_without_forfeits() -> None:
    player = GamePlayer(new_plan(), [load_agent("random")])
    assert FORFEITS not in play(player, [0])[0].summary
