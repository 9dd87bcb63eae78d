"""Tenhou's published shuffle: the seed of a game gives every wall and every pair of dice (docs/rules.md).

The seed is the key of a Mersenne Twister. For each kyoku it yields 288 words = nine blocks of 128 bytes; the SHA-512
sums of the blocks are the random words of a Fisher-Yates shuffle of the 136 tiles and of two dice. Seeds have three
forms:

| until | where | form |
|---|---|---|
| July 2009 | ``shuffle`` of each INIT | ``mt19937ar,`` and 8 or 32 hexadecimal words; no SHA |
| 2009 or 2010 | ``seed`` of SHUFFLE | ``mt19937ar-sha512-n288,`` and 32 hexadecimal words |
| since | ``seed`` of SHUFFLE | ``mt19937ar-sha512-n288-base64,`` and 624 words, little-endian in base64 |

In the oldest form the two tiles of every pair of the dead wall are the other way round.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from suphx.games.riichi.table.tile import NUM_TILES
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


@dataclass(frozen=True, slots=True)
class Deal:
    """What the shuffle gives for one kyoku."""

    wall: U8
    """136 tile ids in drawing order, as in table.py: Tenhou's ``yama`` read from its end."""
    dice: tuple[int, int]
    """Two dice, 0-5 each, as INIT shows them. They move no tile."""

    def with_turned_pairs(self) -> Deal:
        """Return the deal with the two tiles of every pair of the dead wall exchanged."""
        wall = self.wall.copy()
        wall[-_DEAD_WALL:] = wall[-_DEAD_WALL:].reshape(-1, 2)[:, ::-1].reshape(-1)
        return Deal(wall, self.dice)


def tenhou_deals(seed: str) -> Iterator[Deal]:
    """Yield the deal of every kyoku of a game, without end, from its ``SHUFFLE`` seed.

    ValueError, at the call, for a seed of another form than ``mt19937ar-sha512-n288-base64,`` or
    ``mt19937ar-sha512-n288,``.
    """
    if seed.startswith(HEX_SEED_PREFIX):
        return _deals(_generator(_hex_words(seed[len(HEX_SEED_PREFIX) :])))
    return _deals(_generator(_base64_words(seed)))


def kyoku_deal(shuffle: str) -> Deal:
    """Return the deal of one kyoku from the ``shuffle`` of its INIT; ValueError if it is not ``mt19937ar,`` and words.

    Checked against the records at hand: hands, dice, draws and all indicators of 3,095 kyoku.
    """
    if not shuffle.startswith(KYOKU_SEED_PREFIX):
        raise ValueError(f"shuffle begins with {shuffle[:32]!r}: only {KYOKU_SEED_PREFIX!r} is known")
    generator = _generator(_hex_words(shuffle[len(KYOKU_SEED_PREFIX) :]))
    words = np.frombuffer(generator.bytes(4 * (NUM_TILES + 1)), "<u4").tolist()
    return _deal(words).with_turned_pairs()


def _generator(words: _Words) -> np.random.RandomState:
    return np.random.RandomState(words)  # an array seeds by init_by_array, as the reference code does


def _deals(generator: np.random.RandomState) -> Iterator[Deal]:
    while True:
        data = generator.bytes(_NUM_BLOCKS * _BLOCK_BYTES)
        blocks = (data[start : start + _BLOCK_BYTES] for start in range(0, len(data), _BLOCK_BYTES))
        digest = b"".join(hashlib.sha512(block).digest() for block in blocks)
        yield _deal(np.frombuffer(digest, "<u4").tolist())


def _deal(words: list[int]) -> Deal:
    yama = list(range(NUM_TILES))
    for i in range(NUM_TILES - 1):
        j = i + words[i] % (NUM_TILES - i)
        yama[i], yama[j] = yama[j], yama[i]
    yama.reverse()
    return Deal(np.array(yama, np.uint8), (words[NUM_TILES - 1] % 6, words[NUM_TILES] % 6))


def _base64_words(seed: str) -> _Words:
    if not seed.startswith(SEED_PREFIX):
        raise ValueError(f"shuffle seed begins with {seed[:32]!r}: only {SEED_PREFIX!r} is known")
    try:
        data = base64.b64decode(seed[len(SEED_PREFIX) :], validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"shuffle seed is not base64: {error}") from error
    if len(data) != _SEED_BYTES:
        raise ValueError(f"shuffle seed has {len(data)} bytes: it must have {_SEED_BYTES}")
    return np.frombuffer(data, "<u4").astype(np.uint32)


def _hex_words(text: str) -> _Words:
    words = text.split(",")
    if len(words) > _MAX_WORDS or not all(map(_HEX_WORD.fullmatch, words)):
        raise ValueError(f"shuffle seed {text[:40]!r} is not a list of at most {_MAX_WORDS} hexadecimal words")
    return np.array([int(word, 16) for word in words], np.uint32)
