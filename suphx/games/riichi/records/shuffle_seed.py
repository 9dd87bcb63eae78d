"""Tenhou's shuffle seeds and the walls that they give (docs/records.md).

``SeededWalls`` has the walls of a record kyoku by kyoku; a seed that cannot be used never costs the game.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from suphx.games.riichi.records.game_log import NO_SEED
from suphx.games.riichi.table import DORA_POSITIONS
from suphx.games.riichi.tile import NUM_TILES
from suphx.kernel.record import U8

SEED_PREFIX = "mt19937ar-sha512-n288-base64,"
HEX_SEED_PREFIX = "mt19937ar-sha512-n288,"
KYOKU_SEED_PREFIX = "mt19937ar,"
_MAX_WORDS = 624
_SEED_BYTES = 4 * _MAX_WORDS
_HEX_WORD = re.compile(r"[0-9A-Fa-f]{1,8}", re.ASCII)
_DEAD_WALL = 14
_BLOCK_BYTES = 128
_NUM_BLOCKS = 9


_Words: TypeAlias = np.ndarray[tuple[int], np.dtype[np.uint32]]


def tenhou_walls(seed: str) -> Iterator[U8]:
    """Return the walls of all kyokus of a game, without end, from its ``SHUFFLE`` seed.

    A wall has 136 tile ids in drawing order, as in table.py: Tenhou's ``yama`` read from its end. ValueError for a seed
    of another form than ``mt19937ar-sha512-n288-base64,`` or ``mt19937ar-sha512-n288,``.
    """
    if seed.startswith(HEX_SEED_PREFIX):
        words = _hex_words(seed[len(HEX_SEED_PREFIX) :])
    elif seed.startswith(SEED_PREFIX):
        try:
            data = base64.b64decode(seed[len(SEED_PREFIX) :], validate=True)
        except (binascii.Error, ValueError) as error:
            raise ValueError(f"shuffle seed is not base64: {error}") from error
        if len(data) != _SEED_BYTES:
            raise ValueError(f"shuffle seed has {len(data)} bytes: it must have {_SEED_BYTES}")
        words = np.frombuffer(data, "<u4").astype(np.uint32)
    else:
        raise ValueError(f"shuffle seed begins with {seed[:32]!r}: only {SEED_PREFIX!r} is known")
    generator = np.random.RandomState(words)  # an array seeds by init_by_array, as the reference code does

    def walls() -> Iterator[U8]:
        while True:
            data = generator.bytes(_NUM_BLOCKS * _BLOCK_BYTES)
            blocks = (data[start : start + _BLOCK_BYTES] for start in range(0, len(data), _BLOCK_BYTES))
            digest = b"".join(hashlib.sha512(block).digest() for block in blocks)
            yield _wall(np.frombuffer(digest, "<u4").tolist())

    return walls()


def kyoku_wall(shuffle: str) -> U8:
    """Return the wall of one kyoku from the ``shuffle`` of its INIT; ValueError if it is not ``mt19937ar,`` and words.

    Checked against the records at hand: hands, draws and all indicators of 3,095 kyoku.
    """
    if not shuffle.startswith(KYOKU_SEED_PREFIX):
        raise ValueError(f"shuffle begins with {shuffle[:32]!r}: only {KYOKU_SEED_PREFIX!r} is known")
    generator = np.random.RandomState(_hex_words(shuffle[len(KYOKU_SEED_PREFIX) :]))
    return with_turned_pairs(_wall(np.frombuffer(generator.bytes(4 * NUM_TILES), "<u4").tolist()))


def with_turned_pairs(wall: U8) -> U8:
    """Return the wall with the two tiles of every pair of the dead wall exchanged."""
    wall = wall.copy()
    wall[-_DEAD_WALL:] = wall[-_DEAD_WALL:].reshape(-1, 2)[:, ::-1].reshape(-1)
    return wall


def _wall(words: list[int]) -> U8:
    yama = list(range(NUM_TILES))
    for i in range(NUM_TILES - 1):
        j = i + words[i] % (NUM_TILES - i)
        yama[i], yama[j] = yama[j], yama[i]
    yama.reverse()
    return np.array(yama, np.uint8)


def _hex_words(text: str) -> _Words:
    words = text.split(",")
    if len(words) > _MAX_WORDS or not all(map(_HEX_WORD.fullmatch, words)):
        raise ValueError(f"shuffle seed {text[:40]!r} is not a list of at most {_MAX_WORDS} hexadecimal words")
    return np.array([int(word, 16) for word in words], np.uint32)


UNREADABLE_SEED = "the seed cannot be read"
OTHER_SEED = "the seed gives other tiles"
FROM_THE_MIDDLE = "the record starts in the middle of a game"


class SeededWalls:
    """The seeds of one game on their way to walls.

    >>> walls = SeededWalls(seed)
    >>> walls.start_kyoku(is_start_of_game=True, shuffle="")
    >>> wall = walls.finish_kyoku(dealt, indicator)  # None if the draws of this kyoku cannot be checked
    """

    def __init__(self, seed: str | None) -> None:
        self.problem = NO_SEED  # why the draws cannot be checked; "" if they can
        self._walls: Iterator[U8] | None = None
        self._wall: U8 | None = None
        self._has_unknown_pairs = False
        self._is_started = self._is_fitting = False
        self.read_seed(seed or "")

    def read_seed(self, seed: str) -> None:
        """Read the seed of the game; only the first one counts."""
        if not seed or self.problem != NO_SEED:
            return
        try:
            self._walls = tenhou_walls(seed)
        except ValueError:
            self.problem = UNREADABLE_SEED
            return
        self.problem = ""
        self._has_unknown_pairs = seed.startswith(HEX_SEED_PREFIX)

    def start_kyoku(self, *, is_start_of_game: bool, shuffle: str) -> None:
        """Begin a kyoku; ``shuffle`` is its own seed or "". Nobody knows how many walls came before a fragment."""
        if not self._is_started and not is_start_of_game and self._walls is not None:
            self._give_up(FROM_THE_MIDDLE)
        self._is_started = True
        if not shuffle or self.problem not in ("", NO_SEED) or self._walls is not None:
            return
        try:
            self._wall = kyoku_wall(shuffle)
        except ValueError:
            self._give_up(UNREADABLE_SEED)
        else:
            self.problem = ""

    def finish_kyoku(self, dealt: Sequence[int], indicator: int) -> U8 | None:
        """Return the wall of the kyoku, or None; ``dealt`` and ``indicator`` are those of the record.

        The first deal of a record decides whether the seed belongs to it; later ones are compared by the replay.
        """
        wall, self._wall = self._wall, None
        if self._walls is not None:
            wall = next(self._walls)
        if wall is None:
            return None
        if self._has_unknown_pairs and wall[DORA_POSITIONS[0]] != indicator:
            wall = with_turned_pairs(wall)
        if not self._is_fitting and not np.array_equal(wall[: len(dealt)], dealt):
            self._give_up(OTHER_SEED)
            return None
        self._is_fitting = True
        return wall

    def _give_up(self, problem: str) -> None:
        self.problem = problem
        self._walls = self._wall = None
