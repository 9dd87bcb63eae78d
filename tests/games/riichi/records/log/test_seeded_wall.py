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

from suphx.games.riichi.records.game_log import NO_SEED
from suphx.games.riichi.records.mjlog import (
    FROM_THE_MIDDLE,
    HEX_SEED_PREFIX,
    KYOKU_SEED_PREFIX,
    NO_RED,
    OTHER_SEED,
    SEED_PREFIX,
    UNREADABLE_SEED,
    Deal,
    SeededWalls,
    kyoku_deal,
    parse_mjlog,
    tenhou_deals,
)
from suphx.games.riichi.records.replay import Replayer
from suphx.games.riichi.table import DORA_POSITIONS

SEED_BYTES = np.random.default_rng(5).bytes(624 * 4)
TENHOU_SEED = SEED_PREFIX + base64.b64encode(SEED_BYTES).decode()


def slow_deals(seed: bytes, count: int) -> list[tuple[list[int], tuple[int, int]]]:
    """The published shuffle once more, by Python's own Mersenne Twister, which also seeds by init_by_array."""
    generator = random.Random(int.from_bytes(seed, "little"))
    deals = []
    for _ in range(count):
        words = b"".join(generator.getrandbits(32).to_bytes(4, "little") for _ in range(288))
        digest = b"".join(hashlib.sha512(words[i : i + 128]).digest() for i in range(0, 1152, 128))
        numbers = [int.from_bytes(digest[i : i + 4], "little") for i in range(0, 576, 4)]
        yama = list(range(136))
        for i in range(135):
            j = i + numbers[i] % (136 - i)
            yama[i], yama[j] = yama[j], yama[i]
        deals.append(([yama[135 - i] for i in range(136)], (numbers[135] % 6, numbers[136] % 6)))
    return deals


def test_walls_and_dice_equal_those_of_a_slow_twin() -> None:
    deals = [(deal.wall.tolist(), deal.dice) for deal in islice(tenhou_deals(TENHOU_SEED), 12)]
    assert deals == slow_deals(SEED_BYTES, 12)


def test_hexadecimal_seeds_give_the_walls_of_a_slow_twin() -> None:
    words = np.frombuffer(SEED_BYTES, "<u4")[:32]
    seed = HEX_SEED_PREFIX + ",".join(f"{word:08X}" for word in words.tolist())
    deals = [(deal.wall.tolist(), deal.dice) for deal in islice(tenhou_deals(seed), 12)]
    assert deals == slow_deals(SEED_BYTES[: 4 * 32], 12)


@pytest.mark.parametrize("num_words", [8, 32])
def test_the_seed_of_one_kyoku_shuffles_without_sha_and_turns_the_dead_wall(num_words: int) -> None:
    key = SEED_BYTES[: 4 * num_words]
    generator = random.Random(int.from_bytes(key, "little"))
    yama = list(range(136))
    for i in range(135):
        j = i + generator.getrandbits(32) % (136 - i)
        yama[i], yama[j] = yama[j], yama[i]
    dice = (generator.getrandbits(32) % 6, generator.getrandbits(32) % 6)
    turned = [yama[i ^ 1] if i < 14 else yama[i] for i in range(136)]
    deal = kyoku_deal(KYOKU_SEED_PREFIX + ",".join(f"{word:X}" for word in np.frombuffer(key, "<u4").tolist()))
    assert deal.wall.tolist() == turned[::-1]
    assert deal.dice == dice


@pytest.mark.parametrize(
    "shuffle", ["", "4324C796", "mt19937ar,", "mt19937ar,xyz", "mt19937ar,1,,2", "mt19937ar,123456789"]
)
def test_a_damaged_seed_of_one_kyoku_is_refused(shuffle: str) -> None:
    with pytest.raises(ValueError, match="shuffle"):
        kyoku_deal(shuffle)


def test_every_wall_has_each_tile_once() -> None:
    for deal in islice(tenhou_deals(TENHOU_SEED), 5):
        assert deal.wall.dtype == np.uint8
        assert sorted(deal.wall.tolist()) == list(range(136))


@pytest.mark.parametrize(
    ("seed", "reason"),
    [
        ("mt19937ar,4324C796", "only 'mt19937ar-sha512"),
        (SEED_PREFIX + "!!!!", "not base64"),
        (SEED_PREFIX + "é", "not base64"),
        (HEX_SEED_PREFIX, "hexadecimal words"),
        (HEX_SEED_PREFIX + "12,-3", "hexadecimal words"),
        (HEX_SEED_PREFIX + ",".join(["1"] * 625), "at most 624"),
        (SEED_PREFIX + base64.b64encode(b"short").decode(), "5 bytes"),
        ("", "only"),
    ],
)
def test_a_seed_of_another_form_is_refused_at_the_call(seed: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        tenhou_deals(seed)


@pytest.mark.records
def test_the_seeds_of_real_games_give_their_deals_draws_and_dice(records: Path) -> None:
    folder = records / "houou-hanchan-202205"
    num_kyoku = 0
    with lzma.open(folder / "games.tsv.xz", "rt") as games, lzma.open(folder / "seeds.tsv.xz", "rt") as seeds:
        for game, seed_line in islice(zip(games, seeds, strict=True), 20):
            deals = tenhou_deals(seed_line.rstrip("\n").split("\t")[1])
            for kyoku in re.split("(?=<INIT)", game)[1:]:
                deal = next(deals)
                start = [int(x) for x in re.findall(r'seed="([^"]*)"', kyoku)[0].split(",")]
                draws = [int(x) for x in re.findall(r"<[TUVW](\d+)/>", kyoku.split("<N ")[0])]
                assert (*deal.dice, deal.wall[130]) == tuple(start[3:])
                assert deal.wall[52 : 52 + len(draws)].tolist() == draws
                num_kyoku += 1
    assert num_kyoku > 100


SEED = "mt19937ar-sha512-n288,1,2,3"
SHUFFLES = ("mt19937ar,1,2", "mt19937ar,3,4")


def play(walls: SeededWalls, deal: Deal, *, is_start_of_game: bool = False, shuffle: str = "") -> bool:
    """Show a recorded deal and return whether its wall is known."""
    walls.start_kyoku(is_start_of_game=is_start_of_game, shuffle=shuffle)
    wall = walls.finish_kyoku(deal.wall[:52].tolist(), int(deal.wall[DORA_POSITIONS[0]]))
    return wall is not None and wall.tolist() == deal.wall.tolist()


def test_a_seed_gives_the_walls_in_order() -> None:
    walls = SeededWalls(SEED)
    first, second = islice(tenhou_deals(SEED), 2)
    assert play(walls, first, is_start_of_game=True)
    assert play(walls, second)
    assert walls.problem == ""


def test_each_deal_may_have_its_own_seed() -> None:
    walls = SeededWalls(None)
    assert play(walls, kyoku_deal(SHUFFLES[0]), is_start_of_game=True, shuffle=SHUFFLES[0])
    assert play(walls, kyoku_deal(SHUFFLES[1]), shuffle=SHUFFLES[1])
    assert walls.problem == ""


def test_a_fragment_with_a_seed_for_each_deal_is_checked_too() -> None:
    assert play(SeededWalls(None), kyoku_deal(SHUFFLES[0]), shuffle=SHUFFLES[0])


@pytest.mark.parametrize(
    ("seed", "is_start_of_game", "shuffle", "problem"),
    [
        (None, True, "", NO_SEED),
        ("nonsense", True, "", UNREADABLE_SEED),
        (SEED, True, "", OTHER_SEED),
        (SEED, False, "", FROM_THE_MIDDLE),
        (None, True, "nonsense", UNREADABLE_SEED),
        (None, True, SHUFFLES[1], OTHER_SEED),
        ("nonsense", True, SHUFFLES[0], UNREADABLE_SEED),
    ],
)
def test_a_seed_that_cannot_be_used_has_a_reason(
    seed: str | None, is_start_of_game: bool, shuffle: str, problem: str
) -> None:
    walls = SeededWalls(seed)
    deal = kyoku_deal(SHUFFLES[0])
    assert not play(walls, deal, is_start_of_game=is_start_of_game, shuffle=shuffle)
    assert not play(walls, deal)
    assert walls.problem == problem


def test_only_the_first_seed_of_a_game_counts() -> None:
    walls = SeededWalls(SEED)
    walls.read_seed("mt19937ar-sha512-n288,4")
    assert play(walls, next(tenhou_deals(SEED)), is_start_of_game=True)


@pytest.mark.records
def test_real_games_of_2009_agree_with_the_seed_of_each_deal(records: Path) -> None:
    replayer = Replayer()
    num_words = set()
    with lzma.open(records / "careers-hanchan" / "games.tsv.xz", "rt") as games:
        for line in islice(games, 700):
            game_id, _, text = line.rstrip("\n").split("\t")
            seed = re.search(r'shuffle="([^"]*)"', text)
            kind = re.search(r'GO type="([0-9]+)"', text)
            if seed is None or kind is None or int(kind[1]) & NO_RED or seed[1].count(",") in num_words:
                continue
            num_words.add(seed[1].count(","))
            log = parse_mjlog(text, game_id)
            assert log.seed_problem == ""
            assert replayer.replay(log) == []
    assert num_words == {8, 32}
    assert replayer.num_draws_checked > 500
    assert replayer.num_draws_unchecked == 0
