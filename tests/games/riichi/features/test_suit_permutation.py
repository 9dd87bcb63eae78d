from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from suphx.games.mahjong.planes import SUIT_ORDERS, Samples, permute_suits, unpack_planes
from suphx.games.riichi.archive.store import KyokuStore, StoreWriter
from suphx.games.riichi.features.encoder import ENCODERS
from suphx.games.riichi.features.head import DISCARD_HEAD, HEAD_NAMES, KONG_HEAD
from suphx.games.riichi.features.samples import encode_kyokus
from suphx.games.riichi.records.game_log import ACTION_BITS, GameLog, KyokuLog
from suphx.games.riichi.table import ANKAN, CHI, KAKAN, PASS, TSUMO, TSUMOGIRI
from suphx.kernel.record import U8, U16
from tests.games.riichi.builders.games import random_game

SEEDS = (1, 2, 3, 4)


def moved_kind(kind: int, choice: int) -> int:
    return 9 * int(SUIT_ORDERS[choice, kind // 9]) + kind % 9 if kind < 27 else kind


def moved_action(action: int, choice: int) -> int:
    if action < 34:
        return moved_kind(action, choice)
    if action < TSUMOGIRI:  # red fives
        return 34 + int(SUIT_ORDERS[choice, action - 34])
    if ANKAN <= action < KAKAN:
        return ANKAN + moved_kind(action - ANKAN, choice)
    return KAKAN + moved_kind(action - KAKAN, choice) if KAKAN <= action < TSUMO else action


def moved_kyoku(kyoku: KyokuLog, choice: int) -> KyokuLog:
    wall: U8 = np.array([4 * moved_kind(tile // 4, choice) + tile % 4 for tile in kyoku.wall.tolist()], np.uint8)
    seats, actions = kyoku.moves >> ACTION_BITS, kyoku.moves & ((1 << ACTION_BITS) - 1)
    moved: U16 = np.array([moved_action(action, choice) for action in actions.tolist()], np.uint16)
    return dataclasses.replace(kyoku, wall=wall, moves=(seats << ACTION_BITS | moved).astype(np.uint16))


def moved_game(game: GameLog, choice: int) -> GameLog:
    return dataclasses.replace(game, kyokus=[moved_kyoku(kyoku, choice) for kyoku in game.kyokus])


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> list[KyokuStore]:
    """The same games with their suits in each of the six orders."""
    found = []
    for choice in range(len(SUIT_ORDERS)):
        folder: Path = tmp_path_factory.mktemp(f"order-{choice}")
        with StoreWriter(folder) as writer:
            for seed in SEEDS:
                writer.add(moved_game(random_game(seed), choice))
        found.append(KyokuStore.open(folder))
    return found


def encode(store: KyokuStore, head: int, encoder: str) -> Samples:
    return encode_kyokus(store, np.arange(store.num_kyokus), head, encoder)


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("head", range(len(HEAD_NAMES)), ids=HEAD_NAMES)
def test_a_game_with_other_suits_encodes_to_the_permuted_samples(
    stores: list[KyokuStore], head: int, encoder: str
) -> None:
    for choice in range(len(SUIT_ORDERS)):
        samples, expected = encode(stores[0], head, encoder), encode(stores[choice], head, encoder)
        num_rows = len(samples.labels)
        assert num_rows > 0
        permute_suits(samples, np.full(num_rows, choice))
        if head == KONG_HEAD:  # several kans are asked for in the order of their kinds, which is another one
            assert sorted(map(bytes, samples.planes)) == sorted(map(bytes, expected.planes))
        else:
            assert np.array_equal(samples.planes, expected.planes)
            assert np.array_equal(samples.labels, expected.labels)
        assert np.array_equal(samples.masks, expected.masks)


def test_each_sample_has_an_order_of_its_own(stores: list[KyokuStore]) -> None:
    samples, plain = encode(stores[0], DISCARD_HEAD, "mini"), encode(stores[0], DISCARD_HEAD, "mini")
    choices = np.arange(len(plain.labels)) % len(SUIT_ORDERS)
    permute_suits(samples, choices)
    for i in range(12):
        columns = [moved_kind(kind, int(choices[i])) for kind in range(34)]
        assert np.array_equal(unpack_planes(samples.planes[i], 288)[:, columns], unpack_planes(plain.planes[i], 288))
        assert samples.labels[i] == columns[plain.labels[i]]
        assert samples.masks[i, samples.labels[i]] == 1


@pytest.mark.parametrize("choices", [[0], [0, 6], [-1, 0], [0, 0, 0]])
def test_choices_that_do_not_fit_are_refused(choices: list[int]) -> None:
    samples = Samples(np.zeros((2, 17), np.uint8), np.zeros((2, 0), np.uint8), np.zeros(2, np.int8))
    with pytest.raises(ValueError, match="2 samples: give one of 0 to 5 for each"):
        permute_suits(samples, np.array(choices))


def test_actions_of_the_test_are_moved_as_meant() -> None:
    assert [moved_action(action, 5) for action in (0, 9, 34, TSUMOGIRI, ANKAN + 26, CHI, PASS)] == [
        18, 9, 36, TSUMOGIRI, ANKAN + 8, CHI, PASS,
    ]  # fmt: skip
