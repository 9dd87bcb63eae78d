from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from suphx.games.riichi.archive.store import KyokuStore, write_store
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.names import CHOW_HEAD, DISCARD_HEAD, HEAD_NAMES
from suphx.training.config import SplitConfig, StreamConfig
from suphx.training.dataset import SampleStream, encode_checked
from suphx.training.head_data import KyokuSplit, head_data, split_by_game
from tests.games.riichi.builders.games import random_game

CONFIG = StreamConfig(chunk_kyokus=4, buffer_bytes=2**20, num_workers=0)


def write_games(folder: Path, *seeds: int) -> KyokuStore:
    return write_store((random_game(seed) for seed in seeds), folder)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> KyokuStore:
    return write_games(tmp_path_factory.mktemp("store"), 1, 2, 3)


@pytest.mark.parametrize("head", range(len(HEAD_NAMES)))
def test_every_head_has_rows_of_its_layout_and_legal_labels(store: KyokuStore, head: int) -> None:
    data = head_data(store, head, "mini", SplitConfig(), game="riichi")
    samples = encode_checked(data.encode, np.arange(store.num_kyokus))
    assert samples.planes.shape[1] == find_encoder("mini").layout(head).observation_bytes
    assert samples.masks.shape[1] == (34 if head == DISCARD_HEAD else 0)
    assert len(samples.labels) > 0


def test_fewer_training_games_have_the_same_validation_and_test(tmp_path: Path) -> None:
    games = write_games(tmp_path, *range(6))
    whole, few = (
        head_data(games, DISCARD_HEAD, "mini", SplitConfig(train_games=number), game="riichi") for number in (0, 2)
    )
    assert (whole.num_train_games, few.num_train_games) == (4, 2)
    assert set(few.split.train) < set(whole.split.train)
    for side in ("validation", "test"):
        np.testing.assert_array_equal(getattr(few.split, side), getattr(whole.split, side))


def test_games_whose_ids_begin_with_a_text_are_held_out_and_all_others_are_for_training() -> None:
    ids = [f"202205{day}-{number}" for day in (18, 19) for number in range(100)]
    config = SplitConfig(held_out="20220519", validation_fraction=0.02, test_fraction=0.06)
    split = split_by_game(ids, np.arange(200), config)
    assert split.train.tolist() == list(range(100))
    assert sorted([*split.validation, *split.test]) == list(range(100, 200))
    assert 10 <= len(split.validation) <= 40
    with pytest.raises(ValueError, match=r"held_out is '20220520', and the ids of 0 of 200 games begin with it"):
        split_by_game(ids, np.arange(200), replace(config, held_out="20220520"))


def test_a_worker_process_encodes_what_this_process_encodes(store: KyokuStore) -> None:
    data = head_data(store, DISCARD_HEAD, "mini", SplitConfig(), game="riichi")
    batches = []
    for num_workers in (0, 1):
        config = replace(CONFIG, num_workers=num_workers)
        with closing(SampleStream(data.encode, data.split.train, batch_size=64, seed=1, config=config)) as stream:
            batches.append([next(stream) for _ in range(12)])
    for ours, theirs in zip(*batches, strict=True):
        assert np.array_equal(ours.planes, theirs.planes)
        assert np.array_equal(ours.labels, theirs.labels)


def test_games_of_a_relative_folder_are_found_from_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_games(tmp_path / "store", 1, 2, 3)
    monkeypatch.chdir(tmp_path)
    encode = head_data(KyokuStore(Path("store")), CHOW_HEAD, "mini", SplitConfig(), game="riichi").encode
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")  # as Ray Train does with its workers
    encode(np.arange(2))


def test_games_that_changed_under_a_run_are_refused(tmp_path: Path) -> None:
    before = head_data(write_games(tmp_path, 1, 2, 3), CHOW_HEAD, "mini", SplitConfig(), game="riichi")
    after = head_data(write_games(tmp_path, 1, 2, 4), CHOW_HEAD, "mini", SplitConfig(), game="riichi")
    assert before.digest != after.digest
    with pytest.raises(ValueError, match="not those that this run began with: start a new run"):
        before.encode(np.arange(2))


def test_every_training_game_is_whole_in_one_shard(store: KyokuStore) -> None:
    split = SplitConfig(validation_fraction=0.01, test_fraction=0.01)
    data = replace(
        head_data(store, DISCARD_HEAD, "mini", split, game="riichi"),
        split=KyokuSplit(*[np.arange(store.num_kyokus)] * 3),
    )
    shards = [data.shard(rank, 2).split.train for rank in range(2)]
    assert sorted(np.concatenate(shards).tolist()) == list(range(store.num_kyokus))
    games = [set(store.game_of_kyoku[shard].tolist()) for shard in shards]
    assert games[0].isdisjoint(games[1])
    with pytest.raises(ValueError, match="3 games cannot be shared among 4 workers"):
        data.shard(0, 4)
