"""The samples of one head in a store of games: how to encode them, and which kyokus are for what (paper, Table 3).

A game is for training, validation or test by a hash of its id alone: it stays where it is when more games come, and is
the same for all heads. In small sets a side that would be empty gets a game of another side.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suphx.experience.observation import Samples
from suphx.games.learning import DecisionKind, GameStore, RecordedSamples, RowLayout
from suphx.games.mahjong.planes import SUIT_ORDERS
from suphx.games.mahjong.suit_exchange import exchange_suits
from suphx.games.registry import find_decisions, find_game, find_learning
from suphx.training.config import SplitConfig
from suphx.training.dataset import Encode


@dataclass(frozen=True, slots=True)
class KyokuSplit:
    """Indices of kyokus, ascending."""

    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]


def split_by_game(game_ids: Sequence[str], game_of_kyoku: NDArray[np.integer], config: SplitConfig) -> KyokuSplit:
    """Return the sides of all kyokus; no game is on two sides. ValueError if there are fewer than three games, or fewer
    than two that are to be held out.

    ``game_ids``: best a unique text for each game; ``game_of_kyoku``: index into it for each kyoku.
    """
    num_games = len(game_ids)
    if num_games < 3:
        raise ValueError(f"{num_games} games cannot be split into training, validation and test: give at least 3")
    hashes = _game_hashes(game_ids)
    if config.held_out:
        is_held_out = np.array([game_id.startswith(config.held_out) for game_id in game_ids])
        if not 2 <= is_held_out.sum() < num_games:
            raise ValueError(
                f"split.held_out is {config.held_out!r}, and the ids of {is_held_out.sum():,} of {num_games:,} games "
                f"begin with it ({game_ids[0]!r} is one id): hold out two games or more, and not all"
            )
        hashes = np.where(is_held_out, hashes * (config.test_fraction + config.validation_fraction), 1.0)
    order = np.argsort(hashes, kind="stable")
    num_test = min(max(1, int(np.sum(hashes < config.test_fraction))), num_games - 2)
    until_validation = int(np.sum(hashes < config.test_fraction + config.validation_fraction))
    num_validation = min(max(1, until_validation - num_test), num_games - num_test - 1)
    side = np.zeros(num_games, np.int8)
    side[order[:num_test]] = 2
    side[order[num_test : num_test + num_validation]] = 1
    side_of_kyoku = side[np.asarray(game_of_kyoku, np.int64)]
    train, validation, test = (np.flatnonzero(side_of_kyoku == number) for number in range(3))
    return KyokuSplit(train, validation, test)


def game_hash(game_id: str) -> float:
    """Return a number in [0, 1) that follows from the id alone, evenly spread over ids."""
    digest = hashlib.sha256(game_id.encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def _game_hashes(game_ids: Sequence[str]) -> NDArray[np.float64]:
    """Return the hash of every game; games whose id has come before get other ones."""
    earlier: Counter[str] = Counter()
    hashes = []
    for game_id in game_ids:
        number = earlier[game_id]
        hashes.append(game_hash(f"{game_id}\0{number}" if number else game_id))
        earlier[game_id] += 1
    return np.array(hashes)


def first_games(
    kyokus: NDArray[np.int64], game_of_kyoku: NDArray[np.integer], game_ids: Sequence[str], num_games: int
) -> NDArray[np.int64]:
    """Return those of ``kyokus`` that belong to the first ``num_games`` of their games, in the order of their hashes;
    ValueError if there are not so many.
    """
    games = np.unique(game_of_kyoku[kyokus])
    if not 1 <= num_games <= len(games):
        raise ValueError(
            f"split.train_games is {num_games:,}, but {len(games):,} games are for training (the others are for "
            f"validation and test): use 1 to {len(games):,}, or give more records"
        )
    hashes = _game_hashes(game_ids)[games]
    chosen = games[np.argsort(hashes, kind="stable")[:num_games]]
    return kyokus[np.isin(game_of_kyoku[kyokus], chosen)]


def shard_by_game(
    kyokus: NDArray[np.int64], game_of_kyoku: NDArray[np.integer], rank: int, num_shards: int
) -> NDArray[np.int64]:
    """Return the share ``rank`` of ``kyokus``: every game is whole in one of ``num_shards`` shares of about one size;
    ValueError if there are fewer games than shares.
    """
    games = np.unique(game_of_kyoku[kyokus])
    if len(games) < num_shards:
        raise ValueError(f"{len(games)} games cannot be shared among {num_shards} workers: use fewer workers")
    return kyokus[np.isin(game_of_kyoku[kyokus], games[rank::num_shards])]


@dataclass(frozen=True, slots=True)
class RandomSuits:
    """Gives every sample one of the six orders of the suits at random, in place."""

    choices: NDArray[np.int64]
    """Of the kind, one of ``RecordedSamples.suit_choices``."""

    def __call__(self, samples: Samples, random: np.random.Generator) -> None:
        """Exchange the suits of ``samples``."""
        exchange_suits(samples, random.integers(len(SUIT_ORDERS), size=len(samples.labels)), self.choices)


def recorded_samples(game: str) -> RecordedSamples:
    """Return how nets learn from records of a game; ValueError if they cannot."""
    samples = find_learning(game).samples
    if samples is None:
        raise ValueError(f"nets of {find_game(game).title} learn from no records")
    return samples


def open_store(folder: Path, game: str) -> Any:
    """Return the store of a game in ``folder``; ValueError if there is none, or one of another version."""
    return recorded_samples(game).open(folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadData:
    """What one head learns from."""

    kind: DecisionKind
    """What its net decides."""
    layout: RowLayout
    """What a row is made of."""
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
    random_suits: RandomSuits | None = None
    """What exchanges the suits of samples; None: they cannot be."""

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
    game: str

    def __call__(self, kyokus: NDArray[np.int64]) -> Samples:
        """Return all samples of ``kyokus``; ValueError if the store is not the one that the digest is of."""
        store = _open_store(self.folder, self.digest, self.game)
        return recorded_samples(self.game).encode(store, kyokus, self.head, self.encoder)


def head_data(store: GameStore, head: int, encoder: str, config: SplitConfig, *, game: str) -> HeadData:
    """Return what the net of the kind ``head`` learns from ``store``, encoded by ``encoder`` (a name, "mini").

    ValueError for an unknown head or encoder, for too few games, and if ``config.train_games`` are more than there are.
    """
    split = split_by_game(store.game_ids, store.game_of_kyoku, config)
    if number := config.train_games:
        split = replace(split, train=first_games(split.train, store.game_of_kyoku, store.game_ids, number))
    suit_choices = recorded_samples(game).suit_choices
    return HeadData(
        kind=find_decisions(game)[head],
        layout=find_learning(game).layout(encoder, head),
        digest=f"{store.digest}, {config}",
        encode=StoreEncoder(store.folder.resolve(), store.digest, head, encoder, game),
        split=split,
        game_of_kyoku=np.asarray(store.game_of_kyoku, np.int64),
        max_validation_samples=config.max_validation_samples,
        max_test_samples=config.max_test_samples,
        random_suits=RandomSuits(suit_choices[head]) if suit_choices else None,
    )


@lru_cache(maxsize=1)
def _open_store(folder: Path, digest: str, game: str) -> GameStore:
    store: GameStore = open_store(folder, game)
    if store.digest != digest:
        raise ValueError(f"the games in {folder} are not those that this run began with: start a new run")
    return store
