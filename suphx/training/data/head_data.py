"""The samples of one head in a store of games: how to encode them, and which kyokus are for what."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suphx.games.riichi import SUIT_ORDERS, KyokuStore, PlaneLayout, Samples, encode_kyokus, find_encoder, permute_suits
from suphx.training.data.dataset import Encode
from suphx.training.data.split import KyokuSplit, SplitConfig, first_games, shard_by_game, split_by_game


def exchange_suits(samples: Samples, random: np.random.Generator) -> None:
    """Give every sample one of the six orders of the suits at random, in place."""
    permute_suits(samples, random.integers(len(SUIT_ORDERS), size=len(samples.labels)))


def open_store(folder: Path) -> KyokuStore:
    """Return the store in ``folder``; ValueError if there is none, or one of another version."""
    return KyokuStore.open(folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadData:
    """What one head learns from."""

    head: int
    """Number of the head (features/head.py)."""
    layout: PlaneLayout
    """Planes of a row."""
    digest: str
    """Changes whenever the samples change: of the games and of how they are split."""
    encode: Encode
    """Kyoku indices to samples; runs in worker processes."""
    split: KyokuSplit
    """Kyokus for training, validation and test."""
    game_of_kyoku: NDArray[np.int64]
    """The game of every kyoku of the store."""
    max_validation_samples: int
    max_test_samples: int

    @property
    def num_train_games(self) -> int:
        """How many games are learned from."""
        return len(np.unique(self.game_of_kyoku[self.split.train]))

    def shard(self, rank: int, num_shards: int) -> Self:
        """Return the same with every ``num_shards``-th training game, from game ``rank`` on; ValueError for too few."""
        train = shard_by_game(self.split.train, self.game_of_kyoku, rank, num_shards)
        return replace(self, split=replace(self.split, train=train))


@dataclass(frozen=True, slots=True)
class StoreEncoder:
    """Encodes kyokus of the store in ``folder``; goes to a worker process by name and opens the store there.

    ``folder`` is absolute: workers of Ray Train have another working directory.
    """

    folder: Path
    digest: str
    head: int
    encoder: str

    def __call__(self, kyokus: NDArray[np.int64]) -> Samples:
        """Return all samples of ``kyokus``; ValueError if the store is not the one that the digest is of."""
        return encode_kyokus(_open_store(self.folder, self.digest), kyokus, self.head, self.encoder)


def head_data(store: KyokuStore, head: int, encoder: str, config: SplitConfig, num_games: int = 0) -> HeadData:
    """Return what head ``head`` (0-4) learns from ``store``, encoded by ``encoder`` (a name, "mini").

    ``num_games``: learn from so many of the training games only; 0 = all. Raises ValueError for an unknown head or
    encoder, for fewer than three games, and for more training games than there are.
    """
    split = split_by_game(store.game_ids, store.game_of_kyoku, config)
    if num_games:
        split = replace(split, train=first_games(split.train, store.game_of_kyoku, store.game_ids, num_games))
    return HeadData(
        head=head,
        layout=find_encoder(encoder).layout(head),
        digest=f"{store.digest}, {config}" + (f", {num_games} games" if num_games else ""),
        encode=StoreEncoder(store.folder.resolve(), store.digest, head, encoder),
        split=split,
        game_of_kyoku=np.asarray(store.game_of_kyoku, np.int64),
        max_validation_samples=config.max_validation_samples,
        max_test_samples=config.max_test_samples,
    )


@lru_cache(maxsize=1)
def _open_store(folder: Path, digest: str) -> KyokuStore:
    store = KyokuStore.open(folder)
    if store.digest != digest:
        raise ValueError(f"the games in {folder} are not those that this run began with: start a new run")
    return store
