from __future__ import annotations

import numpy as np

from suphx.experience.columns import joined
from suphx.experience.decisions import Decisions, no_decisions
from suphx.experience.observation import Observations, PolicyOutputs
from suphx.experience.trajectory import TrajectoryStore
from suphx.games.riichi.names import DISCARD_HEAD

OBSERVATION_BYTES = 3


def add(store: TrajectoryStore, tables: list[int], seats: list[int], actions: list[int]) -> None:
    """Add decisions whose every column can be told from their action."""
    n = len(actions)
    numbers = np.array(actions)
    observations = Observations(
        DISCARD_HEAD,
        np.repeat(numbers[:, None], OBSERVATION_BYTES, axis=1).astype(np.uint8),
        np.ones((n, 34), np.uint8),
        np.zeros(n, np.int32),
        np.zeros(n, np.float32),
    )
    floats = numbers.astype(np.float32)
    outputs = PolicyOutputs(numbers.astype(np.int16), floats, -floats, numbers.astype(np.int32))
    store.add(np.array(tables), np.array(seats), observations, outputs, np.arange(n))


def taken_actions(store: TrajectoryStore, table: int) -> list[int]:
    actions: list[int] = store.take(np.array([table])).with_rewards(np.zeros((1, 4), np.float32)).actions.tolist()
    return actions


def test_decisions_come_out_by_table_and_seat_in_order_and_only_once() -> None:
    store = TrajectoryStore(DISCARD_HEAD, 3, OBSERVATION_BYTES, 34)
    add(store, [0, 1, 2], [3, 0, 1], [10, 20, 30])
    add(store, [0, 1, 2], [0, 0, 1], [11, 21, 31])
    add(store, [0, 1], [3, 2], [12, 22])
    taken = store.take(np.array([1, 0]))
    assert taken.ends.tolist() == [0, 0, 0, 1, 1, 1]
    assert taken.seats.tolist() == [0, 0, 2, 0, 3, 3]
    rewards = np.array([[1, 2, 3, 4], [5, 6, 7, 8]], np.float32)
    decisions = taken.with_rewards(rewards)
    assert decisions.actions.tolist() == [20, 21, 22, 11, 10, 12]
    assert decisions.rewards.tolist() == [1, 1, 3, 5, 8, 8]
    assert decisions.is_last.tolist() == [False, True, True, True, False, True]
    assert decisions.planes.dense()[:, 0].tolist() == decisions.versions.tolist() == decisions.actions.tolist()
    assert decisions.log_probs.tolist() == [-20, -21, -22, -11, -10, -12]
    assert len(store.take(np.array([1, 0])).lines) == 0
    assert taken_actions(store, 2) == [30, 31]


def test_the_last_yes_without_a_mark_is_overruled() -> None:
    store = TrajectoryStore(DISCARD_HEAD, 2, OBSERVATION_BYTES, 34)
    for action in (1, 1, 0):
        add(store, [0, 0, 1], [2, 3, 2], [action] * 3)
    store.overrule(np.array([0, 0, 1]), np.array([2, 2, 1]))
    store.overrule(np.array([1]), np.array([2]))
    taken = store.take(np.array([0, 1])).with_rewards(np.zeros((2, 4), np.float32))
    assert taken.is_overruled.tolist() == [True, True, False, False, False, False, False, True, False]
    add(store, [0], [2], [1])
    (again,) = store.take(np.array([0])).with_rewards(np.zeros((1, 4), np.float32)).is_overruled.tolist()
    assert not again, "a slot that is used again has no mark"


def test_decisions_of_a_seat_that_are_added_together_are_joint() -> None:
    """A seat may be asked about three claims at once; the next time is another step."""
    store = TrajectoryStore(DISCARD_HEAD, 2, OBSERVATION_BYTES, 34)
    add(store, [0, 0, 0, 1], [2, 2, 2, 2], [1, 2, 3, 4])
    add(store, [0, 1, 1], [2, 2, 3], [5, 6, 7])
    taken = store.take(np.array([0, 1])).with_rewards(np.zeros((2, 4), np.float32))
    assert taken.actions.tolist() == [1, 2, 3, 5, 4, 6, 7]
    assert taken.is_joint.tolist() == [False, True, True, False, False, False, False]


def test_permuted_rewards_are_those_of_other_trajectories() -> None:
    store = TrajectoryStore(DISCARD_HEAD, 50, OBSERVATION_BYTES, 34)
    for length in range(3):
        tables = [table for table in range(50) if table % 3 >= length]
        add(store, tables, [2] * len(tables), tables)
    rewards = np.zeros((50, 4), np.float32)
    rewards[:, 2] = np.arange(50)
    plain = store.take(np.arange(50)).with_rewards(rewards)
    permuted = plain.with_permuted_rewards((7, DISCARD_HEAD))
    ends = permuted.rewards[permuted.is_last]
    assert sorted(ends) == list(range(50))
    assert (ends != plain.rewards[plain.is_last]).mean() > 0.8
    trajectories: np.ndarray = np.cumsum(plain.is_last) - plain.is_last
    assert permuted.rewards.tolist() == ends[trajectories].tolist(), "one reward for a whole trajectory"
    assert permuted.actions.tolist() == plain.actions.tolist()
    assert plain.with_permuted_rewards((7, DISCARD_HEAD)).rewards.tolist() == permuted.rewards.tolist()
    assert plain.with_permuted_rewards((8, DISCARD_HEAD)).rewards.tolist() != permuted.rewards.tolist()
    assert len(plain.part(0, 0).with_permuted_rewards((7,))) == 0


def test_room_is_used_again() -> None:
    store = TrajectoryStore(DISCARD_HEAD, 1, OBSERVATION_BYTES, 34)
    sizes = set()
    for round_number in range(50):
        for decision in range(20):
            add(store, [0], [decision % 4], [decision])
        assert len(store.take(np.array([0])).lines) == 20
        if round_number:
            sizes.add(len(store.state()["actions"]))
    assert len(sizes) == 1


def test_it_grows_without_losing_what_it_has() -> None:
    store = TrajectoryStore(DISCARD_HEAD, 2, OBSERVATION_BYTES, 34)
    for decision in range(2000):
        add(store, [decision % 2], [1], [decision])
    assert taken_actions(store, 1) == list(range(1, 2000, 2))
    assert taken_actions(store, 0) == list(range(0, 2000, 2))


def test_parts_can_be_put_together_and_lines_taken() -> None:
    store = TrajectoryStore(DISCARD_HEAD, 1, OBSERVATION_BYTES, 34)
    parts = [no_decisions(DISCARD_HEAD, OBSERVATION_BYTES, 34)]
    for number in range(3):
        add(store, [0, 0], [0, 0], [number, number + 10])
        parts.append(store.take(np.array([0])).with_rewards(np.full((1, 4), number, np.float32)))
    whole = joined(parts)
    assert whole.actions.tolist() == [0, 10, 1, 11, 2, 12]
    assert whole.rewards.tolist() == [0, 0, 1, 1, 2, 2]
    assert whole.planes.dense()[:, 2].tolist() == whole.actions.tolist()
    for lines in (whole.take(np.array([5, 0])), joined([whole.part(5, 9), whole.part(0, 1)])):
        assert lines.actions.tolist() == lines.planes.dense()[:, 0].tolist() == [12, 0]
    # Rows of 3 bytes are a word, behind one that says so; the row of zeros is only the latter.
    assert whole.nbytes == 6 * (8 + 8 + 34 + 2 + 1 + 1 + 4 + 4 + 4 + 1) + 5 * 8
    assert [whole.trajectory_end(rows) for rows in (0, 1, 2, 3, 6, 9)] == [0, 2, 2, 4, 6, 6]
    again = Decisions.from_arrays(DISCARD_HEAD, whole.arrays())
    for name, array in whole.arrays().items():
        np.testing.assert_array_equal(again.arrays()[name], array)
