from __future__ import annotations

from dataclasses import replace

import numpy as np

from suphx.experience.decisions import Decisions
from suphx.games.riichi.names import DISCARD_HEAD, RIICHI_HEAD
from suphx.selfplay.buffer import ReplayBuffer, RoundBuffer
from suphx.selfplay.config import ReplayBufferConfig
from suphx.training.monte_carlo import PlayedRound
from tests.training.decision_batch import decisions as made_up


def decisions(actions: range, version: int = 0, head: int = DISCARD_HEAD, length: int = 1) -> Decisions:
    """Return decisions in trajectories of ``length`` rows, whose rewards are their actions."""
    own = np.array(actions, np.int16)
    made = made_up(head, len(own), length=length)
    return replace(made, actions=own, versions=np.full(len(own), version, np.int32), rewards=own.astype(np.float32))


def new_buffer(heads: tuple[int, ...] = (DISCARD_HEAD,), **config: int) -> ReplayBuffer:
    return ReplayBuffer(ReplayBufferConfig(**{"batch_size": 10, **config}), heads)


def taken(buffer: ReplayBuffer, version: int = 0) -> list[int]:
    batch = buffer.take(version)
    assert batch is not None
    return [int(action) for action in batch.parts[DISCARD_HEAD].actions]


def test_what_is_left_of_a_block_comes_before_later_blocks() -> None:
    buffer = new_buffer(batch_size=4)
    for start in (0, 6):
        buffer.add([decisions(range(start, start + 6))])
    batches = [buffer.take(0) for _ in range(3)]
    parts = [batch.parts[DISCARD_HEAD] for batch in batches if batch is not None]
    assert [part.actions.tolist() for part in parts] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert all(part.rewards.tolist() == part.actions.tolist() for part in parts)
    assert buffer.take(0) is None
    assert buffer.num_bytes == 0


def test_a_batch_has_whole_trajectories() -> None:
    buffer = new_buffer()
    buffer.add([decisions(range(8), length=4), decisions(range(8, 18), length=5)])
    batch = buffer.take(0)
    assert batch is not None
    part = batch.parts[DISCARD_HEAD]
    assert part.actions.tolist() == list(range(13))
    assert np.flatnonzero(part.is_last).tolist() == [3, 7, 12]
    assert buffer.counts.learned == 13
    assert buffer.status().num_decisions == 5


def test_a_stale_decision_takes_what_was_before_it_in_its_trajectory_along() -> None:
    buffer = new_buffer(batch_size=1, max_staleness=0)
    block = decisions(range(9), version=1, length=3)
    block.versions[[1, 8]] = 0
    buffer.add([block])
    batch = buffer.take(1)
    assert batch is not None
    rest = buffer.take(1)
    assert rest is not None
    assert batch.parts[DISCARD_HEAD].actions.tolist() == [2]
    assert rest.parts[DISCARD_HEAD].actions.tolist() == [3, 4, 5]
    assert rest.parts[DISCARD_HEAD].is_last.tolist() == [False, False, True]
    assert buffer.take(1) is None
    assert buffer.counts.stale == 5


def test_a_full_buffer_takes_nothing_until_there_is_room_again() -> None:
    buffer = new_buffer(capacity_bytes=2**20)
    block = decisions(range(600))
    assert [buffer.add([block]), buffer.add([block]), buffer.add([block])] == [True, True, False]
    assert buffer.num_bytes == 2 * block.nbytes <= 2**20
    assert (buffer.counts.added, buffer.counts.refused) == (1200, 600)
    for _ in range(60):
        taken(buffer)
    assert buffer.add([block])


def test_a_buffer_of_at_most_two_batches_takes_nothing_while_they_wait() -> None:
    buffer = ReplayBuffer(ReplayBufferConfig(batch_size=10), (DISCARD_HEAD, RIICHI_HEAD), max_batches=2)
    assert buffer.add([decisions(range(15)), decisions(range(3), head=RIICHI_HEAD)])
    assert buffer.add([decisions(range(15, 30))])
    assert not buffer.add([decisions(range(3), head=RIICHI_HEAD)])
    assert (buffer.counts.added, buffer.counts.refused) == (33, 3)
    assert buffer.status().is_ready, "who is refused waits for the learner, which has enough"
    assert taken(buffer) == list(range(10))
    assert not buffer.add([decisions(range(1))])
    assert taken(buffer) == list(range(10, 20))
    assert buffer.add([decisions(range(1))])


def test_stale_decisions_are_dropped_and_counted() -> None:
    buffer = new_buffer(max_staleness=3)
    buffer.add([decisions(range(8), version=1), decisions(range(8, 20), version=2)])
    batch = buffer.take(5)
    assert batch is not None
    assert sorted(batch.parts[DISCARD_HEAD].actions.tolist()) == list(range(8, 18))
    assert batch.staleness == 3
    assert buffer.counts.stale == 8


def test_rare_decisions_are_learned_from_when_there_are_enough_of_them() -> None:
    buffer = new_buffer(heads=(DISCARD_HEAD, RIICHI_HEAD))
    buffer.add([decisions(range(30)), decisions(range(6), head=RIICHI_HEAD)])
    sizes = []
    for _ in range(2):
        batch = buffer.take(0)
        assert batch is not None
        sizes.append({head: len(part) for head, part in batch.parts.items()})
        buffer.add([decisions(range(4), head=RIICHI_HEAD)])
    assert sizes == [{DISCARD_HEAD: 10}, {DISCARD_HEAD: 10, RIICHI_HEAD: 10}]


def test_a_head_that_decides_rarely_learns_from_what_it_has_before_that_is_too_stale() -> None:
    buffer = new_buffer((DISCARD_HEAD, RIICHI_HEAD), max_staleness=3)
    given = []
    for version in range(9):
        own = decisions(range(2 * version, 2 * version + 2), version, RIICHI_HEAD)
        buffer.add([decisions(range(10), version), own])
        batch = buffer.take(version)
        assert batch is not None
        assert len(batch.parts[DISCARD_HEAD]) == 10
        given.append(batch.parts[RIICHI_HEAD].actions.tolist() if RIICHI_HEAD in batch.parts else [])
    assert given == [[], [], [], list(range(8)), [], [], [], list(range(8, 16)), []]
    assert buffer.counts.stale == 0
    assert buffer.status().num_decisions == 2


def test_buffers_that_take_turns_look_as_far_ahead_as_their_next_turn() -> None:
    buffer = new_buffer((DISCARD_HEAD, RIICHI_HEAD), max_staleness=4)
    learned = 0
    for version in range(0, 40, 3):
        buffer.add([decisions(range(10), version), decisions(range(2), version, RIICHI_HEAD)])
        batch = buffer.take(version)
        assert batch is not None
        learned += len(batch.parts[RIICHI_HEAD]) if RIICHI_HEAD in batch.parts else 0
    assert (learned, buffer.counts.stale) == (28, 0)


def test_a_rare_head_does_not_learn_from_less_than_an_eighth_of_a_batch() -> None:
    buffer = new_buffer((DISCARD_HEAD, RIICHI_HEAD), batch_size=80, max_staleness=2)
    for version in range(6):
        buffer.add([decisions(range(80), version), decisions(range(3), version, RIICHI_HEAD)])
        batch = buffer.take(version)
        assert batch is not None
        assert set(batch.parts) == {DISCARD_HEAD}
    assert buffer.counts.stale == 9


def test_a_rare_head_alone_waits_for_a_whole_batch() -> None:
    buffer = new_buffer((DISCARD_HEAD, RIICHI_HEAD), max_staleness=0)
    buffer.add([decisions(range(2), 0, RIICHI_HEAD)])
    assert buffer.take(0) is None
    assert buffer.status().num_decisions == 2


def test_a_restored_buffer_gives_the_same_batches() -> None:
    buffer, other = new_buffer(), new_buffer()
    buffer.add([decisions(range(35))])
    taken(buffer)
    arrays, values = buffer.state()
    other.restore(arrays, values)
    assert other.num_bytes == buffer.num_bytes
    assert [taken(other) for _ in range(2)] == [taken(buffer) for _ in range(2)]
    assert other.take(0) is buffer.take(0) is None
    assert other.counts == buffer.counts


def test_a_round_that_is_played_again_is_learned_from_once() -> None:
    buffer = RoundBuffer(1)
    one, other = PlayedRound([], 0, number=1), PlayedRound([], 0, number=2)
    assert buffer.add([one])
    assert buffer.add([one]), "its simulator died before it could tell that the round was taken"
    assert not buffer.add([other])
    assert buffer.take(0) is not None
    assert buffer.add([one])
    assert buffer.take(0) is None
    assert buffer.add([other])
