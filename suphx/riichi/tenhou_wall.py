"""Tenhou's published shuffle: the seed of a game gives every wall and every pair of dice (riichi.md, Real records).

The seed is the state of a Mersenne Twister. For each kyoku it yields 288 words = nine blocks of 128 bytes; the SHA-512
sums of the blocks are the random words of a Fisher-Yates shuffle of the 136 tiles and of two dice.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from suphx.riichi.record import U8
from suphx.riichi.tile import NUM_TILES

SEED_PREFIX = "mt19937ar-sha512-n288-base64,"
_SEED_BYTES = 624 * 4
_BLOCK_BYTES = 128
_NUM_BLOCKS = 9


@dataclass(frozen=True, slots=True)
class Deal:
    """What the shuffle gives for one kyoku."""

    wall: U8
    """136 tile ids in drawing order, as in table.py: Tenhou's ``yama`` read from its end."""
    dice: tuple[int, int]
    """Two dice, 0-5 each, as INIT shows them. They move no tile."""


def tenhou_deals(seed: str) -> Iterator[Deal]:
    """Yield the deal of every kyoku of a game, without end, from its ``SHUFFLE`` seed.

    ``seed`` is ``mt19937ar-sha512-n288-base64,`` and 2,496 bytes in base64. ValueError for anything else, at the call.
    """
    words = _seed_words(seed)
    generator = np.random.RandomState(words)  # an array seeds by init_by_array, as the reference code does
    return _deals(generator)


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


def _seed_words(seed: str) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    if not seed.startswith(SEED_PREFIX):
        raise ValueError(f"shuffle seed begins with {seed[:32]!r}: only {SEED_PREFIX!r} is known")
    try:
        data = base64.b64decode(seed[len(SEED_PREFIX) :], validate=True)
    except binascii.Error as error:
        raise ValueError(f"shuffle seed is not base64: {error}") from error
    if len(data) != _SEED_BYTES:
        raise ValueError(f"shuffle seed has {len(data)} bytes: it must have {_SEED_BYTES}")
    return np.frombuffer(data, "<u4").astype(np.uint32)
