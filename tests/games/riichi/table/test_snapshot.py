from __future__ import annotations

import numpy as np
import pytest

from suphx.games.riichi.engine.simulator import Simulator
from suphx.games.riichi.table.rules import tenhou
from suphx.games.riichi.table.snapshot import restore_snapshot, take_snapshot
from suphx.games.riichi.table.table import TABLE
from tests.games.riichi.builders.table_choice import choose


def played(num_steps: int) -> Simulator:
    simulator = Simulator(8, tenhou())
    simulator.reset(range(8))
    for _ in range(num_steps):
        play_on(simulator)
    return simulator


def play_on(simulator: Simulator) -> None:
    waiting = simulator.waiting()
    simulator.advance(waiting, choose(simulator.tables, waiting))


@pytest.mark.parametrize("num_steps", [0, 37, 400])
def test_a_restored_position_goes_on_like_the_first_one(num_steps: int) -> None:
    simulator = played(num_steps)
    again = Simulator(8, tenhou())
    again.tables = restore_snapshot(take_snapshot(simulator.tables))
    for _ in range(300):
        play_on(simulator)
        play_on(again)
    assert take_snapshot(simulator.tables) == take_snapshot(again.tables)


def test_a_copy_of_a_record_is_a_snapshot_too() -> None:
    simulator = played(50)
    kept = simulator.tables.copy()
    play_on(simulator)
    assert take_snapshot(simulator.tables) != take_snapshot(kept)
    simulator.tables[:] = kept
    assert take_snapshot(simulator.tables) == take_snapshot(kept)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "0 bytes are no snapshot"),
        (b"something else altogether, long enough", "38 bytes are no snapshot"),
        (take_snapshot(np.zeros(1, TABLE))[:-1], "cut off or damaged"),
        (take_snapshot(np.zeros(1, TABLE))[:-1] + b"\1", "cut off or damaged"),
        (b"SUPHXTAB" + bytes(8) + take_snapshot(np.zeros(1, TABLE))[16:], "another layout"),
    ],
)
def test_other_bytes_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        restore_snapshot(data)


def test_something_that_is_no_table_is_refused() -> None:
    with pytest.raises(ValueError, match="TABLE records"):
        take_snapshot(np.zeros((1, 1), TABLE))
