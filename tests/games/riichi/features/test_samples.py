from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from suphx.experience.observation import Samples
from suphx.games.riichi.archive.store import KYOKU, KyokuStore, write_store
from suphx.games.riichi.features.samples import BadDealError, encode_kyokus
from suphx.games.riichi.names import CHOW_HEAD, DISCARD_HEAD, HEAD_NAMES, KONG_HEAD, PONG_HEAD, RIICHI_HEAD
from suphx.games.riichi.records.game_log import GameLog, move
from suphx.games.riichi.table import ANKAN, CHI, LEAVE, PON, RETURN, RIICHI, RON, TSUMO, TSUMOGIRI
from suphx.games.riichi.tile import ALL_RED_FIVES
from tests.games.riichi.builders.games import random_game
from tests.games.riichi.builders.hands import kind
from tests.games.riichi.builders.table_builder import make_wall

TENPAI = "123456789m1123p"  # waits for 1p and 4p
FAR = "147m258p19s12346z"


def store_of(folder: Path, hands: Sequence[str], draws: str, moves: Sequence[int], rinshan: str = "") -> KyokuStore:
    """Return a store of one game with one deal on a hand-made wall."""
    log = dataclasses.replace(
        random_game(0).kyokus[0],
        wall=make_wall(hands, draws, rinshan, "", "", 0, 69, ALL_RED_FIVES).astype(np.uint8),
        moves=np.array(moves, np.uint16),
    )
    return store_games(folder, [dataclasses.replace(random_game(0), kyokus=[log])])


def store_games(folder: Path, games: Sequence[GameLog]) -> KyokuStore:
    return write_store(games, folder)


def labels(store: KyokuStore) -> dict[int, list[int]]:
    return {head: encode(store, head).labels.tolist() for head in range(len(HEAD_NAMES))}


def encode(store: KyokuStore, head: int) -> Samples:
    return encode_kyokus(store, np.arange(store.num_kyokus), head)


PON_AFTER_RIICHI = [
    move(0, RIICHI),
    move(0, TSUMOGIRI),  # 7z
    move(1, kind("5z")),
    move(2, PON),
    move(2, kind("5s")),  # seat 3 could chi and passes
    move(3, TSUMOGIRI),  # 9s
    move(0, TSUMO),
]
PON_HANDS = [TENPAI, "258m147p19s12345z", "555z5s147m258p23z9m", "46s147m258p1236z7m"]


def test_every_decision_and_every_pass_is_a_sample(tmp_path: Path) -> None:
    store = store_of(tmp_path, PON_HANDS, "7z 6s 9s 4p", PON_AFTER_RIICHI)
    assert labels(store) == {
        DISCARD_HEAD: [kind(tile) for tile in ("7z", "5z", "5s", "9s")],
        RIICHI_HEAD: [1],
        CHOW_HEAD: [0],
        PONG_HEAD: [1],
        KONG_HEAD: [0],  # the open kan that seat 2 could have called
    }


def test_the_masks_are_the_kinds_that_may_be_discarded(tmp_path: Path) -> None:
    samples = encode(store_of(tmp_path, PON_HANDS, "7z 6s 9s 4p", PON_AFTER_RIICHI), DISCARD_HEAD)
    assert samples.masks.shape == (4, 34)
    assert np.flatnonzero(samples.masks[0]).tolist() == [kind("1p"), kind("7z")]  # what keeps tenpai
    assert not samples.masks[2, kind("5z")]  # kuikae
    assert samples.masks[np.arange(4), samples.labels].all()


def test_absent_seats_are_left_out(tmp_path: Path) -> None:
    moves = [move(3, LEAVE), *PON_AFTER_RIICHI]
    store = store_of(tmp_path, PON_HANDS, "7z 6s 9s 4p", moves)
    assert labels(store)[DISCARD_HEAD] == [kind(tile) for tile in ("7z", "5z", "5s")]
    assert labels(store)[CHOW_HEAD] == []


def test_a_seat_that_returns_counts_again(tmp_path: Path) -> None:
    moves = [move(0, LEAVE), move(0, RETURN), move(2, LEAVE), *PON_AFTER_RIICHI]
    store = store_of(tmp_path, PON_HANDS, "7z 6s 9s 4p", moves)
    assert labels(store)[RIICHI_HEAD] == [1]
    assert labels(store)[PONG_HEAD] == []


def test_a_turn_that_wins_is_no_sample_although_a_kan_was_possible(tmp_path: Path) -> None:
    store = store_of(tmp_path, ["1111m23m456p789s5z", "", "", ""], "5z", [move(0, TSUMO)])
    assert labels(store) == {head: [] for head in range(len(HEAD_NAMES))}
    moves = [*(move(seat, TSUMOGIRI) for seat in range(4)), move(0, TSUMO)]
    later = store_of(tmp_path / "later", ["1111m23m456p789s5z", "", "", ""], "6z 9s 9p 9m 5z", moves)
    assert labels(later)[KONG_HEAD] == [0], "of the first turn only"


def test_an_overruled_claim_is_no_sample(tmp_path: Path) -> None:
    # Seat 2 could chi 5s, seat 3 calls pon: what seat 2 wanted is unknown.
    hands = [TENPAI, FAR, "46s147m258p12366z", "55s147m258p12377z"]
    moves = [move(0, TSUMOGIRI), move(1, TSUMOGIRI), move(3, PON), move(3, kind("1z")), move(0, TSUMO)]
    store = store_of(tmp_path, hands, "9s 5s 4p", moves)
    assert labels(store) == {
        DISCARD_HEAD: [kind(tile) for tile in ("9s", "5s", "1z")],
        RIICHI_HEAD: [0],
        CHOW_HEAD: [],
        PONG_HEAD: [1],
        KONG_HEAD: [],
    }


def test_a_claim_overruled_by_a_win_is_no_sample(tmp_path: Path) -> None:
    hands = [TENPAI, FAR, "44p1479m28s12366z", FAR.replace("9s", "8s")]
    moves = [move(0, TSUMOGIRI), move(1, TSUMOGIRI), move(0, RON)]
    store = store_of(tmp_path, hands, "9s 4p", moves)
    assert labels(store)[PONG_HEAD] == []
    assert labels(store)[DISCARD_HEAD] == [kind("9s"), kind("4p")]


def test_every_possible_chi_is_a_row_of_its_own(tmp_path: Path) -> None:
    hands = [TENPAI, FAR, "3467s147m258p123z", FAR.replace("9s", "8s")]
    moves = [
        *(move(0, TSUMOGIRI), move(1, TSUMOGIRI), move(2, CHI + 1), move(2, kind("1z"))),
        *(move(3, TSUMOGIRI), move(0, TSUMO)),
    ]
    store = store_of(tmp_path, hands, "9s 5s 7z 4p", moves)
    # The claimed 5s as the lowest, the middle and the highest of a run.
    assert labels(store)[CHOW_HEAD] == [0, 1, 0]


def test_every_possible_own_kan_is_a_row_of_its_own(tmp_path: Path) -> None:
    others = "36m147p28s123467z"
    hands = ["1111m2222m99p34s5z", others.replace("36m", "69m"), others, others]
    moves = [move(0, ANKAN + kind("2m")), move(0, ANKAN + kind("1m")), move(0, kind("6z"))]
    moves += [move(1, TSUMOGIRI), move(2, TSUMOGIRI), move(3, TSUMOGIRI), move(0, TSUMO)]
    store = store_of(tmp_path, hands, "6z 8m 8p 7s 2s", moves, rinshan="5z5z")
    # First 1m and 2m are possible, then 1m.
    assert labels(store)[KONG_HEAD] == [0, 1, 1]


def test_deals_are_encoded_one_by_one_as_together(tmp_path: Path) -> None:
    store = store_games(tmp_path, [random_game(0)])
    whole = encode(store, DISCARD_HEAD)
    parts = [encode_kyokus(store, np.array([i]), DISCARD_HEAD) for i in range(store.num_kyokus)]
    np.testing.assert_array_equal(whole.planes, np.concatenate([part.planes for part in parts]))
    np.testing.assert_array_equal(whole.labels, np.concatenate([part.labels for part in parts]))
    backwards = encode_kyokus(store, np.array([1, 0]), DISCARD_HEAD)
    np.testing.assert_array_equal(backwards.labels, np.concatenate([parts[1].labels, parts[0].labels]))


def test_a_deal_that_contradicts_the_rules_is_refused_by_name(tmp_path: Path) -> None:
    game = random_game(0)
    bad = dataclasses.replace(game.kyokus[1], moves=game.kyokus[1].moves[:4])
    store = store_games(tmp_path, [dataclasses.replace(game, kyokus=[game.kyokus[0], bad])])
    with pytest.raises(BadDealError, match=r"deal 1 of .* \(game game-0\) contradicts the rules") as caught:
        encode(store, DISCARD_HEAD)
    again = pickle.loads(pickle.dumps(caught.value))  # as from an encoder process
    assert (str(again), again.game, again.deal) == (str(caught.value), "game-0", 1)


def test_a_deal_that_is_damaged_or_not_there_is_refused(tmp_path: Path) -> None:
    folder = store_games(tmp_path, [random_game(0)]).folder
    kyokus = np.fromfile(folder / "kyokus.bin", KYOKU)
    kyokus["wall"][0, 0] = 255
    kyokus["game"][1] = 99
    kyokus.tofile(folder / "kyokus.bin")
    store = KyokuStore(folder)
    for bad, name in ((0, "game-0"), (1, "unknown")):
        with pytest.raises(ValueError, match=rf"deal {bad} of .* \(game {name}\) contradicts the rules or is damaged"):
            encode_kyokus(store, np.array([bad]), DISCARD_HEAD)
    for index in (-1, store.num_kyokus):
        with pytest.raises(ValueError, match=rf"deals {index} to {index} are wanted of {store.num_kyokus}"):
            encode_kyokus(store, np.array([index]), DISCARD_HEAD)
