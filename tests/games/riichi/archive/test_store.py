from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from suphx.games.riichi.archive.store import GAME, KYOKU, KyokuStore, is_playable, write_store
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.rules import tonpuu
from tests.games.riichi.builders.games import random_game


def write(folder: Path, games: list[GameLog]) -> Path:
    write_store(games, folder)
    return folder


def test_games_come_back_as_they_were_written(tmp_path: Path) -> None:
    games = [random_game(0), random_game(1, tonpuu()), random_game(2)]
    store = KyokuStore(write(tmp_path / "store", games))
    assert store.num_games == 3
    assert store.game_ids == [game.id for game in games]
    assert store.num_kyokus == sum(len(game.kyokus) for game in games)
    assert store.games["num_winds"].tolist() == [2, 1, 2]
    for number, game in enumerate(games):
        record = store.games[number]
        assert tuple(record["final_scores"].tolist()) == game.final_scores
        own = store.kyokus[record["first_kyoku"] : record["first_kyoku"] + record["num_kyoku"]]
        for kyoku, log in zip(own, game.kyokus, strict=True):
            assert (kyoku["kyoku"], kyoku["honba"], kyoku["kyotaku"]) == (log.kyoku, log.honba, log.kyotaku)
            assert tuple(kyoku["scores"].tolist()) == log.scores
            assert kyoku["result"] == log.result["result"]
            np.testing.assert_array_equal(kyoku["wall"], log.wall)
            moves = store.moves[kyoku["first_move"] : kyoku["first_move"] + kyoku["num_moves"]]
            np.testing.assert_array_equal(moves, log.moves)
    np.testing.assert_array_equal(store.game_of_kyoku, np.repeat(range(3), [len(game.kyokus) for game in games]))


def test_a_store_is_read_only(tmp_path: Path) -> None:
    store = KyokuStore(write(tmp_path, [random_game(0)]))
    with pytest.raises(ValueError, match="read-only"):
        store.moves[0] = 0


def test_a_store_is_there_once_it_is_whole(tmp_path: Path) -> None:
    class PowerCutError(Exception):
        pass

    def games() -> Iterator[GameLog]:
        yield random_game(1)
        with pytest.raises(ValueError, match="is not a finished game store"):
            KyokuStore(tmp_path)
        if fails:
            raise PowerCutError

    write(tmp_path, [random_game(0)])
    fails = True
    with pytest.raises(PowerCutError):
        write_store(games(), tmp_path)
    with pytest.raises(ValueError, match="is not a finished game store"):
        KyokuStore(tmp_path)
    fails = False
    assert write_store(games(), tmp_path).game_ids == ["game-1"]


@pytest.mark.parametrize("name", ["games.bin", "kyokus.bin", "moves.bin"])
def test_a_file_of_another_size_is_refused(tmp_path: Path, name: str) -> None:
    write(tmp_path, [random_game(0)])
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(data[:-1])
    with pytest.raises(ValueError, match=f"{name} has {len(data) - 1} bytes instead of {len(data)}"):
        KyokuStore(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(ValueError, match=f"{name} has -1 bytes instead of"):
        KyokuStore(tmp_path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[1]", "has format None"),
        (b'{"format": 99}', "has format 99, this version reads 2"),
        (b'{"format": 2}', "has no counts or no sum"),
        (b'{"format": 2, "games": "1", "kyokus": 1, "moves": 1, "sha256": "x"}', "has no counts or no sum"),
        (b'{"format": 2, "games": 1, "kyokus": -1, "moves": 1, "sha256": "x"}', "bytes instead of"),
    ],
)
def test_a_damaged_manifest_is_refused_with_its_name(tmp_path: Path, content: bytes, reason: str) -> None:
    write(tmp_path, [random_game(0)])
    (tmp_path / "store.json").write_bytes(content)
    with pytest.raises(ValueError, match=reason) as caught:
        KyokuStore(tmp_path)
    assert str(tmp_path) in str(caught.value)


UNPLAYABLE = {
    "a game that is not there": ("game", 7),
    "a game below zero": ("game", -1),
    "after North 4": ("kyoku", 16),
    "a kyoku below zero": ("kyoku", -1),
    "honba below zero": ("honba", -1),
    "sticks below zero": ("kyotaku", -1),
    "moves below zero": ("num_moves", -1),
    "moves before the first": ("first_move", -1),
    "moves after the last": ("first_move", 2**62),
    "a tile twice": ("wall", [0, *range(135)]),
    "a tile that is none": ("wall", [*range(135), 136]),
}


@pytest.mark.parametrize("name", UNPLAYABLE)
def test_a_deal_that_kernels_cannot_index_with_is_told(tmp_path: Path, name: str) -> None:
    store = KyokuStore(write(tmp_path, [random_game(0)]))
    kyokus = np.array(store.kyokus)
    assert all(is_playable(kyoku, 1, len(store.moves)) for kyoku in kyokus)
    field, value = UNPLAYABLE[name]
    kyokus[field][2] = value
    assert not is_playable(kyokus[2], 1, len(store.moves))


def test_damaged_ids_and_games_of_deals_are_refused(tmp_path: Path) -> None:
    folder = write(tmp_path, [random_game(0)])
    for name, dtype, field, value in (("games", GAME, "id", b"\xff"), ("kyokus", KYOKU, "game", 1)):
        data = np.fromfile(folder / f"{name}.bin", dtype)
        data[field][0] = value
        data.tofile(folder / f"{name}.bin")
    store = KyokuStore(folder)
    with pytest.raises(ValueError, match="a game id that is not UTF-8"):
        _ = store.game_ids
    with pytest.raises(ValueError, match="deals of games that it does not have"):
        _ = store.game_of_kyoku


def test_an_id_that_is_too_long_is_refused(tmp_path: Path) -> None:
    game = dataclasses.replace(random_game(0), id="x" * 49)
    with pytest.raises(ValueError, match="longer than 48 bytes"):
        write_store([game], tmp_path)
