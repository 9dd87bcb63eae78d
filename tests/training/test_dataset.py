from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import pytest
from numpy.typing import NDArray

from suphx.experience.observation import Samples
from suphx.training.config import SplitConfig, StreamConfig
from suphx.training.dataset import SampleStream, encode_checked, first_samples
from suphx.training.head_data import KyokuSplit, first_games, split_by_game
from suphx.worker_interrupt import WorkerDiedError


def ids(num_games: int) -> list[str]:
    return [f"2022051{number % 10}-{number:08x}" for number in range(num_games)]


def split(num_games: int, config: SplitConfig | None = None) -> tuple[KyokuSplit, np.ndarray]:
    game_of_kyoku = np.repeat(np.arange(num_games), 10)
    return split_by_game(ids(num_games), game_of_kyoku, config or SplitConfig()), game_of_kyoku


def test_every_kyoku_is_on_one_side_and_no_game_on_two() -> None:
    sides, game_of_kyoku = split(1000)
    parts = (sides.train, sides.validation, sides.test)
    assert sorted(np.concatenate(parts).tolist()) == list(range(10_000))
    games = [set(game_of_kyoku[part].tolist()) for part in parts]
    assert sum(map(len, games)) == len(set.union(*games)) == 1000


def test_a_game_stays_on_its_side_when_more_games_come() -> None:
    few, many = split(500)[0], split(900)[0]
    assert set(few.test.tolist()) == {k for k in many.test.tolist() if k < 5000}
    assert set(few.train.tolist()) == {k for k in many.train.tolist() if k < 5000}


@pytest.mark.parametrize("name", ["", "game", "x6"])
def test_games_of_one_name_are_on_all_sides(name: str) -> None:
    config = SplitConfig(validation_fraction=0.1, test_fraction=0.2)
    sides = split_by_game([name] * 2000, np.arange(2000), config)
    assert len(sides.validation) / 2000 == pytest.approx(0.1, abs=0.03)
    assert len(sides.test) / 2000 == pytest.approx(0.2, abs=0.03)


def test_fewer_games_are_whole_and_part_of_more() -> None:
    sides, game_of_kyoku = split(300)
    parts = [first_games(sides.train, game_of_kyoku, ids(300), count) for count in (20, 100)]
    assert [len(np.unique(game_of_kyoku[part])) for part in parts] == [20, 100]
    assert [len(part) for part in parts] == [200, 1000]
    assert set(parts[0].tolist()) < set(parts[1].tolist()) < set(sides.train.tolist())
    for count in (0, 301):
        with pytest.raises(ValueError, match=f"train_games is {count}, but 275 games are for training"):
            first_games(sides.train, game_of_kyoku, ids(300), count)
    for num_games in (3, 4, 10):
        few, _ = split(num_games)
        assert min(map(len, (few.train, few.validation, few.test))) > 0


@dataclass(frozen=True)
class NumberedSamples:
    """Encodes kyoku k as ``k % most`` samples (4 bytes: kyoku and place), so that every row tells where it is from."""

    most: int = 7

    def __call__(self, kyokus: NDArray[np.int64]) -> Samples:
        rows = [(k >> 8, k & 255, place, 0) for k in kyokus.tolist() for place in range(k % self.most)]
        packed = np.array(rows, np.uint8).reshape(-1, 4)
        return Samples(packed, np.zeros((len(packed), 0), np.uint8), (packed[:, 2] % 2).astype(np.int8))


@dataclass(frozen=True)
class DyingEncoder:
    def __call__(self, kyokus: NDArray[np.int64]) -> Samples:
        os._exit(3)


KYOKUS = np.arange(300, dtype=np.int64)
SAMPLE_BYTES = 4 + 0 + 1
CONFIG = StreamConfig(chunk_kyokus=8, buffer_bytes=128 * SAMPLE_BYTES, num_workers=0)
NUM_ROWS = sum(k % 7 for k in range(300))


def stream(config: StreamConfig = CONFIG, **fields: object) -> SampleStream:
    arguments: dict[str, object] = {"batch_size": 32, "seed": 5, "config": config, **fields}
    return SampleStream(NumberedSamples(), KYOKUS, **arguments)  # type: ignore[arg-type]


def names(batches: list[Samples]) -> list[bytes]:
    return [row.tobytes() for batch in batches for row in batch.planes]


def one_epoch() -> list[Samples]:
    with closing(stream()) as batches:
        return [next(batches) for _ in range(NUM_ROWS // 32)]


def test_an_epoch_gives_every_sample_at_most_once_and_drops_less_than_a_batch() -> None:
    batches = one_epoch()
    assert {len(batch.labels) for batch in batches} == {32}
    counts = Counter(names(batches))
    assert set(counts.values()) == {1}
    assert NUM_ROWS - len(counts) < 32


@pytest.mark.parametrize("buffer_rows", [64, 128, 100_000])
def test_a_stream_goes_on_at_any_position(buffer_rows: int) -> None:
    config = replace(CONFIG, buffer_bytes=buffer_rows * SAMPLE_BYTES)
    whole = stream(config)
    given: list[Samples] = []
    positions = [whole.position]
    for _ in range(70):
        given.append(next(whole))
        positions.append(whole.position)
    for done in range(0, 60, 3):
        resumed = stream(config, position=positions[done])
        assert names([next(resumed) for _ in range(5)]) == names(given[done : done + 5])
        assert resumed.position == positions[done + 5]


def test_a_resumed_stream_encodes_two_windows_at_most_before_its_first_batch() -> None:
    calls: list[int] = []

    def counted(kyokus: NDArray[np.int64]) -> Samples:
        calls.append(len(kyokus))
        return NumberedSamples()(kyokus)

    whole = SampleStream(counted, KYOKUS, batch_size=32, seed=5, config=CONFIG)
    for _ in range(25):
        next(whole)
    num_calls = len(calls)
    calls.clear()
    next(SampleStream(counted, KYOKUS, batch_size=32, seed=5, config=CONFIG, position=whole.position))
    assert num_calls > 25
    assert len(calls) <= 2 * (64 // 16)  # a chunk has about 24 rows, a window 64


def test_fewer_samples_than_a_batch_make_one_short_batch_an_epoch() -> None:
    encode = NumberedSamples()
    batches = SampleStream(encode, np.arange(5), batch_size=32, seed=1, config=CONFIG)
    assert [len(next(batches).labels) for _ in range(3)] == [10, 10, 10]
    assert batches.position.epochs == 3.0


@pytest.mark.parametrize("kyokus", [np.array([], np.int64), np.array([0, 7, 14])])
def test_data_without_samples_is_refused(kyokus: NDArray[np.int64]) -> None:
    with pytest.raises(ValueError, match="give more records"):
        next(SampleStream(NumberedSamples(), kyokus, batch_size=4, seed=1, config=CONFIG))


def test_a_batch_larger_than_the_window_is_refused() -> None:
    with pytest.raises(ValueError, match=r"batch_size is 65, which needs 325 bytes: .* buffer_bytes to at least 650"):
        next(stream(batch_size=65))
    with pytest.raises(ValueError, match="batch_size is 0"):
        stream(batch_size=0)


def test_memory_is_half_the_buffer_and_a_chunk_and_is_used_again() -> None:
    batches = stream()
    rooms = set()
    for _ in range(60):
        next(batches)
        room = batches._buffer._room
        assert room is not None
        rooms.add((room.planes.ctypes.data, len(room.labels)))
    assert len(rooms) == 1
    assert rooms.pop()[1] <= (64 + 8 * 6) * 5 // 4


def test_a_worker_that_dies_is_reported_with_a_remedy() -> None:
    config = replace(CONFIG, num_workers=1)
    with (
        closing(SampleStream(DyingEncoder(), KYOKUS, batch_size=8, seed=1, config=config)) as batches,
        pytest.raises(WorkerDiedError, match=r"lower stream\.num_workers or stream\.buffer_bytes"),
    ):
        next(batches)


def test_a_worker_that_dies_between_two_chunks_is_reported_too() -> None:
    with closing(stream(replace(CONFIG, num_workers=1))) as batches:
        next(batches)
        pool = batches._pool
        assert pool is not None
        for process in pool._processes.values():
            process.kill()
        while not pool._broken:
            time.sleep(0.01)
        with pytest.raises(WorkerDiedError, match="a worker process died"):
            list(islice(batches, NUM_ROWS))


def broken(rows: int, masks: int, label: int) -> Callable[[NDArray[np.int64]], Samples]:
    def encode(kyokus: NDArray[np.int64]) -> Samples:
        mask = np.eye(34, dtype=np.uint8)[np.zeros(masks, np.int64)]
        return Samples(np.zeros((rows, 4), np.uint8), mask, np.full(2, label, np.int8))

    return encode


@pytest.mark.parametrize(
    ("rows", "masks", "label", "message"),
    [(3, 2, 0, "3 rows, 2 masks, 2 labels"), (2, 1, 0, "2 rows, 1 masks, 2 labels"), (2, 2, 1, "calls illegal")],
)
def test_samples_that_contradict_themselves_are_refused(rows: int, masks: int, label: int, message: str) -> None:
    with pytest.raises(ValueError, match=f"{message}.* kyokus 4 to 9"):
        encode_checked(broken(rows, masks, label), np.array([4, 9]))


def mark(samples: Samples, random: np.random.Generator) -> None:
    samples.planes[:, 3] = random.integers(256, size=len(samples.labels))


def test_worker_processes_change_nothing_and_augmentation_follows_from_seed_epoch_and_chunk() -> None:
    def marked(num_workers: int, **fields: object) -> list[bytes]:
        config = replace(CONFIG, num_workers=num_workers)
        with closing(stream(config, augment=mark, **fields)) as batches:
            return names([next(batches) for _ in range(2 * NUM_ROWS // 32)])

    ours = marked(0)
    assert marked(2) == ours
    assert marked(0, seed=6) != ours
    assert len({name[3] for name in ours}) > 200
    first_epoch = {name[:3]: name[3] for name in ours[: len(ours) // 2]}
    kept = [first_epoch.get(name[:3]) == name[3] for name in ours[len(ours) // 2 :]]
    assert sum(kept) < 0.1 * len(kept)


def test_first_samples_are_as_many_as_asked_and_always_the_same() -> None:
    def first(most: int) -> list[bytes]:
        found = first_samples(NumberedSamples(), KYOKUS, most, seed=1)
        assert found is not None
        return names([found])

    assert (len(first(100)), len(first(10_000))) == (100, NUM_ROWS)
    assert first(100) == first(100)
