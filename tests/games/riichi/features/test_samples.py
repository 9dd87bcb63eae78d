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


def encode(store: KyokuStore, head: int) -> Samples:
    return encode_kyokus(store, np.arange(store.num_kyokus), head)


def discards(seats: str) -> list[int]:
    """Return the moves of seats that discard what they have drawn."""
    return [move(int(seat), TSUMOGIRI) for seat in seats]


PON_AFTER_RIICHI = [
    *(move(0, RIICHI), *discards("0")),  # 7z
    *(move(1, kind("5z")), move(2, PON), move(2, kind("5s"))),  # seat 3 could chi and passes
    *(*discards("3"), move(0, TSUMO)),  # 9s
]
PON_HANDS = [TENPAI, "258m147p19s12345z", "555z5s147m258p23z9m", "46s147m258p1236z7m"]
PON_DRAWS = "7z 6s 9s 4p"
FAR_8S, OTHERS = FAR.replace("9s", "8s"), "36m147p28s123467z"
FOUR_ALIKE = ["1111m23m456p789s5z", "", "", ""]

# hands, draws, rinshan tiles, moves; the labels of each head: those of discards as tiles
CASES: dict[str, tuple[Sequence[str], str, str, Sequence[int], dict[int, list[int] | str]]] = {
    "every decision and every pass, such as the open kan that seat 2 could have called": (
        PON_HANDS, PON_DRAWS, "", PON_AFTER_RIICHI,
        {DISCARD_HEAD: "7z 5z 5s 9s", RIICHI_HEAD: [1], CHOW_HEAD: [0], PONG_HEAD: [1], KONG_HEAD: [0]},
    ),
    "absent seats are left out": (
        PON_HANDS, PON_DRAWS, "", [move(3, LEAVE), *PON_AFTER_RIICHI], {DISCARD_HEAD: "7z 5z 5s", CHOW_HEAD: []},
    ),
    "a seat that returns counts again": (
        PON_HANDS, PON_DRAWS, "", [move(0, LEAVE), move(0, RETURN), move(2, LEAVE), *PON_AFTER_RIICHI],
        {RIICHI_HEAD: [1], PONG_HEAD: []},
    ),
    "a turn that wins is none although a kan was possible": (
        FOUR_ALIKE, "5z", "", [move(0, TSUMO)], dict.fromkeys(range(len(HEAD_NAMES)), ""),
    ),
    "a later turn that wins, either": (
        FOUR_ALIKE, "6z 9s 9p 9m 5z", "", [*discards("0123"), move(0, TSUMO)], {KONG_HEAD: [0]},
    ),
    "what seat 2, whose chi a pon overruled, wanted is unknown": (
        [TENPAI, FAR, "46s147m258p12366z", "55s147m258p12377z"], "9s 5s 4p", "",
        [*discards("01"), move(3, PON), move(3, kind("1z")), move(0, TSUMO)],
        {DISCARD_HEAD: "9s 5s 1z", RIICHI_HEAD: [0], CHOW_HEAD: [], PONG_HEAD: [1], KONG_HEAD: []},
    ),
    "a claim overruled by a win": (
        [TENPAI, FAR, "44p1479m28s12366z", FAR_8S], "9s 4p", "", [*discards("01"), move(0, RON)],
        {PONG_HEAD: [], DISCARD_HEAD: "9s 4p"},
    ),
    "each possible chi, with 5s as the lowest, the middle and the highest of a run": (
        [TENPAI, FAR, "3467s147m258p123z", FAR_8S], "9s 5s 7z 4p", "",
        [*discards("01"), move(2, CHI + 1), move(2, kind("1z")), *discards("3"), move(0, TSUMO)],
        {CHOW_HEAD: [0, 1, 0]},
    ),
    "each possible own kan: first of 1m and of 2m, then of 1m": (
        ["1111m2222m99p34s5z", OTHERS.replace("36m", "69m"), OTHERS, OTHERS], "6z 8m 8p 7s 2s", "5z5z",
        [move(0, ANKAN + kind("2m")), move(0, ANKAN + kind("1m")), move(0, kind("6z")), *discards("123"),
         move(0, TSUMO)],
        {KONG_HEAD: [0, 1, 1]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_these_decisions_are_samples(case: str, tmp_path: Path) -> None:
    hands, draws, rinshan, moves, expected = CASES[case]
    store = store_of(tmp_path, hands, draws, moves, rinshan)
    for head, labels in expected.items():
        wanted = list(map(kind, labels.split())) if isinstance(labels, str) else labels
        assert encode(store, head).labels.tolist() == wanted, HEAD_NAMES[head]


def test_the_masks_are_the_kinds_that_may_be_discarded(tmp_path: Path) -> None:
    samples = encode(store_of(tmp_path, PON_HANDS, PON_DRAWS, PON_AFTER_RIICHI), DISCARD_HEAD)
    assert samples.masks.shape == (4, 34)
    assert np.flatnonzero(samples.masks[0]).tolist() == [kind("1p"), kind("7z")]  # what keeps tenpai
    assert not samples.masks[2, kind("5z")]  # kuikae
    assert samples.masks[np.arange(4), samples.labels].all()


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
