"""Shuffle seeds give the walls of a slow twin, in each of Tenhou's three forms; one of no use has a reason."""

from __future__ import annotations

import base64
import hashlib
import lzma
import random
import re
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from suphx.games.riichi.records import shuffle_seed
from suphx.games.riichi.records.game_log import NO_SEED
from suphx.games.riichi.records.mjlog import NO_RED, parse_mjlog
from suphx.games.riichi.records.replay import Replayer
from suphx.games.riichi.table import DORA_POSITIONS
from suphx.kernel.record import U8

SEED_BYTES = np.random.default_rng(5).bytes(624 * 4)
TENHOU_SEED = shuffle_seed.SEED_PREFIX + base64.b64encode(SEED_BYTES).decode()


def slow_walls(seed: bytes, count: int) -> list[list[int]]:
    """The published shuffle once more, by Python's own Mersenne Twister, which also seeds by init_by_array."""
    generator = random.Random(int.from_bytes(seed, "little"))
    walls = []
    for _ in range(count):
        words = b"".join(generator.getrandbits(32).to_bytes(4, "little") for _ in range(288))
        digest = b"".join(hashlib.sha512(words[i : i + 128]).digest() for i in range(0, 1152, 128))
        numbers = [int.from_bytes(digest[i : i + 4], "little") for i in range(0, 576, 4)]
        yama = list(range(136))
        for i in range(135):
            j = i + numbers[i] % (136 - i)
            yama[i], yama[j] = yama[j], yama[i]
        walls.append(yama[::-1])
    return walls


def test_walls_equal_those_of_a_slow_twin() -> None:
    walls = [wall.tolist() for wall in islice(shuffle_seed.tenhou_walls(TENHOU_SEED), 12)]
    assert walls == slow_walls(SEED_BYTES, 12)


def test_hexadecimal_seeds_give_the_walls_of_a_slow_twin() -> None:
    words = np.frombuffer(SEED_BYTES, "<u4")[:32]
    seed = shuffle_seed.HEX_SEED_PREFIX + ",".join(f"{word:08X}" for word in words.tolist())
    walls = [wall.tolist() for wall in islice(shuffle_seed.tenhou_walls(seed), 12)]
    assert walls == slow_walls(SEED_BYTES[: 4 * 32], 12)


@pytest.mark.parametrize("num_words", [8, 32])
def test_the_seed_of_one_kyoku_shuffles_without_sha_and_turns_the_dead_wall(num_words: int) -> None:
    key = SEED_BYTES[: 4 * num_words]
    generator = random.Random(int.from_bytes(key, "little"))
    yama = list(range(136))
    for i in range(135):
        j = i + generator.getrandbits(32) % (136 - i)
        yama[i], yama[j] = yama[j], yama[i]
    turned = [yama[i ^ 1] if i < 14 else yama[i] for i in range(136)]
    wall = shuffle_seed.kyoku_wall(
        shuffle_seed.KYOKU_SEED_PREFIX + ",".join(f"{word:X}" for word in np.frombuffer(key, "<u4").tolist())
    )
    assert wall.tolist() == turned[::-1]


@pytest.mark.parametrize(
    "shuffle", ["", "4324C796", "mt19937ar,", "mt19937ar,xyz", "mt19937ar,1,,2", "mt19937ar,123456789"]
)
def test_a_damaged_seed_of_one_kyoku_is_refused(shuffle: str) -> None:
    with pytest.raises(ValueError, match="shuffle"):
        shuffle_seed.kyoku_wall(shuffle)


@pytest.mark.parametrize(
    ("seed", "reason"),
    [
        ("mt19937ar,4324C796", "only 'mt19937ar-sha512"),
        (shuffle_seed.SEED_PREFIX + "!!!!", "not base64"),
        (shuffle_seed.SEED_PREFIX + "é", "not base64"),
        (shuffle_seed.HEX_SEED_PREFIX, "hexadecimal words"),
        (shuffle_seed.HEX_SEED_PREFIX + "12,-3", "hexadecimal words"),
        (shuffle_seed.HEX_SEED_PREFIX + ",".join(["1"] * 625), "at most 624"),
        (shuffle_seed.SEED_PREFIX + base64.b64encode(b"short").decode(), "5 bytes"),
        ("", "only"),
    ],
)
def test_a_seed_of_another_form_is_refused_at_the_call(seed: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        shuffle_seed.tenhou_walls(seed)


WALL_SEED = "mt19937ar-sha512-n288,1,2,3"
SHUFFLES = ("mt19937ar,1,2", "mt19937ar,3,4")


def play(walls: shuffle_seed.SeededWalls, recorded: U8, *, is_start_of_game: bool = False, shuffle: str = "") -> bool:
    """Show a recorded deal and return whether its wall is known."""
    walls.start_kyoku(is_start_of_game=is_start_of_game, shuffle=shuffle)
    wall = walls.finish_kyoku(recorded[:52].tolist(), int(recorded[DORA_POSITIONS[0]]))
    return wall is not None and wall.tolist() == recorded.tolist()


@pytest.mark.parametrize(
    ("seed", "is_start_of_game", "shuffle", "problem"),
    [
        (None, True, "", NO_SEED),
        ("nonsense", True, "", shuffle_seed.UNREADABLE_SEED),
        (WALL_SEED, True, "", shuffle_seed.OTHER_SEED),
        (WALL_SEED, False, "", shuffle_seed.FROM_THE_MIDDLE),
        (None, True, "nonsense", shuffle_seed.UNREADABLE_SEED),
        (None, True, SHUFFLES[1], shuffle_seed.OTHER_SEED),
        ("nonsense", True, SHUFFLES[0], shuffle_seed.UNREADABLE_SEED),
    ],
)
def test_a_seed_that_cannot_be_used_has_a_reason(
    seed: str | None, is_start_of_game: bool, shuffle: str, problem: str
) -> None:
    walls = shuffle_seed.SeededWalls(seed)
    wall = shuffle_seed.kyoku_wall(SHUFFLES[0])
    assert not play(walls, wall, is_start_of_game=is_start_of_game, shuffle=shuffle)
    assert not play(walls, wall)
    assert walls.problem == problem


def assert_all_draws_agree(text: str, game_id: str, seed: str | None = None) -> None:
    replayer, log = Replayer(), parse_mjlog(text, game_id, seed)
    assert log.seed_problem == ""
    assert replayer.replay(log) == []
    assert replayer.num_draws_unchecked == 0
    assert replayer.num_draws_checked > 200


@pytest.mark.records
def test_the_seeds_of_real_games_give_their_deals_and_draws(records: Path) -> None:
    folder = records / "houou-hanchan-202205"
    with lzma.open(folder / "games.tsv.xz", "rt") as games, lzma.open(folder / "seeds.tsv.xz", "rt") as seeds:
        for line, seed in islice(zip(games, seeds, strict=True), 20):
            game_id, _, text = line.rstrip("\n").split("\t")
            assert_all_draws_agree(text, game_id, seed.rstrip("\n").split("\t")[1])


@pytest.mark.records
def test_real_games_of_2009_agree_with_the_seed_of_each_deal(records: Path) -> None:
    num_words = set()
    with lzma.open(records / "careers-hanchan" / "games.tsv.xz", "rt") as games:
        for line in islice(games, 700):
            game_id, _, text = line.rstrip("\n").split("\t")
            seed, kind = re.search(r'shuffle="([^"]*)"', text), re.search(r'GO type="([0-9]+)"', text)
            if seed and kind and not int(kind[1]) & NO_RED and seed[1].count(",") not in num_words:
                num_words.add(seed[1].count(","))
                assert_all_draws_agree(text, game_id)
    assert num_words == {8, 32}
