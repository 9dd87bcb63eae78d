"""Rows of bit-packed planes without the words that are zero, which most are: a quarter of the bytes to move and keep.

>>> sparse = SparsePlanes.of(rows)  # uint8 [n, observation_bytes]
>>> sparse.take(np.array([5, 0])).dense()  # uint8 [2, observation_bytes]

A row of w 8-byte words is kept as ceil(w / 64) words of flags, a bit for each word that is not zero, followed by those
words. A dense row of w = 70 words, of which 1, 3 and 64 are not zero, takes 5 words::

    dense      w0  w1  w2  w3  w4 ... w63 w64 w65 ... w69
               0   a   0   b   0      0   c   0       0

    content    +---------------+---------------+-----+-----+-----+
               | flags 0       | flags 1       |  a  |  b  |  c  |  next row ...
               +---------------+---------------+-----+-----+-----+
                bits 1 and 3    bit 0                            ^
                (words 0..63)   (words 64..69)                   ends[row]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from suphx.experience.observation import F32, Observations
from suphx.kernel.jit import jit
from suphx.kernel.record import I32, I64, U8, U64

_WORD = 8
_WORD_BITS = 64


@dataclass(frozen=True, slots=True)
class SparsePlanes:
    """n rows, one after another."""

    observation_bytes: int
    """Of a dense row."""
    content: U64
    """uint64 [m]."""
    ends: I64
    """int64 [n]: where each row ends in ``content``."""

    @classmethod
    def of(cls, rows: U8, lines: I64 | None = None, *, observation_bytes: int | None = None) -> SparsePlanes:
        """Return the dense ``lines`` (None: all) of uint8 [any, width]; ``observation_bytes``: their width unpadded."""
        width = rows.shape[1]
        padded = padded_bytes(width)
        if width < padded or not rows.flags.c_contiguous:
            whole = np.zeros((len(rows), padded), np.uint8)
            whole[:, :width] = rows
            rows = whole
        words = rows.view(np.uint64)
        if lines is None:
            lines = np.arange(len(rows))
        content = np.empty(len(lines) * (words.shape[1] + _mask_words(words.shape[1])), np.uint64)
        ends = np.empty(len(lines), np.int64)
        size = _gather(words, lines, content, ends)
        return cls(width if observation_bytes is None else observation_bytes, content[:size], ends)

    @classmethod
    def none(cls, observation_bytes: int) -> SparsePlanes:
        """Return no rows."""
        return cls(observation_bytes, np.zeros(0, np.uint64), np.zeros(0, np.int64))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> SparsePlanes:
        """Return what ``arrays`` was made of."""
        return cls(int(arrays["observation_bytes"]), arrays["content"], arrays["ends"])

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all as arrays."""
        return {"observation_bytes": np.array(self.observation_bytes), "content": self.content, "ends": self.ends}

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return self.content.nbytes + self.ends.nbytes

    def copied(self) -> SparsePlanes:
        """Return a copy that shares no memory with this one."""
        return SparsePlanes(self.observation_bytes, self.content.copy(), self.ends.copy())

    def part(self, start: int, stop: int) -> SparsePlanes:
        """Return the rows ``start`` up to ``stop`` (less than or equal to the number of rows) without copying them."""
        first = int(self.ends[start - 1]) if start else 0
        last = int(self.ends[stop - 1]) if stop else 0
        return SparsePlanes(
            self.observation_bytes, self.content[first : max(first, last)], self.ends[start:stop] - first
        )

    def take(self, indices: I64) -> SparsePlanes:
        """Return copies of the rows ``indices``."""
        starts = self.ends - np.diff(self.ends, prepend=0)
        sizes = (self.ends - starts)[indices]
        ends = np.cumsum(sizes)
        content = np.empty(int(sizes.sum()), np.uint64)
        _copy(np.require(self.content, requirements="W"), starts[indices], sizes, content, ends)
        return SparsePlanes(self.observation_bytes, content, ends)

    @staticmethod
    def joined(parts: Sequence[SparsePlanes]) -> SparsePlanes:
        """Return the rows of all ``parts``, one or more of equal width, one after another."""
        starts = np.cumsum([0, *(len(part.content) for part in parts[:-1])])
        ends = [part.ends + start for part, start in zip(parts, starts, strict=True)]
        content = np.concatenate([part.content for part in parts])
        return SparsePlanes(parts[0].observation_bytes, content, np.concatenate(ends))

    def dense(self) -> U8:
        """Return the rows, uint8 [n, observation_bytes]."""
        rows = np.empty((len(self), self.observation_bytes), np.uint8)
        content = np.require(self.content, requirements="W")  # a kernel would be compiled again for what is read only
        _spread(
            content,
            np.require(self.ends, requirements="W"),
            np.empty(padded_bytes(self.observation_bytes) // _WORD, np.uint64),
            rows,
        )
        return rows


@dataclass(frozen=True, slots=True)
class SparseObservations:
    """Observations on their way to another process: the columns of ``Observations``, with sparse rows."""

    decision: int
    planes: SparsePlanes
    masks: U8
    policies: I32
    uniforms: F32

    @classmethod
    def of(cls, observations: Observations) -> SparseObservations:
        """Return what ``dense`` makes the same observations of."""
        o = observations
        return cls(o.decision, SparsePlanes.of(o.planes), o.masks, o.policies, o.uniforms)

    def dense(self) -> Observations:
        """Return the observations."""
        return Observations(self.decision, self.planes.dense(), self.masks, self.policies, self.uniforms)


def padded_bytes(observation_bytes: int) -> int:
    """Return the bytes of the whole words that hold ``observation_bytes``."""
    return -(-observation_bytes // _WORD) * _WORD


def _mask_words(num_words: int) -> int:
    return -(-num_words // _WORD_BITS)


@jit
def _gather(words: U64, lines: I64, content: U64, ends: I64) -> int:
    """Write the dense rows ``lines`` as sparse ones; return how much of ``content`` they take."""
    num_words = words.shape[1]
    num_masks = (num_words + 63) // 64
    n = 0
    for i in range(len(lines)):
        line, first = lines[i], n
        n += num_masks
        for m in range(num_masks):
            mask = np.uint64(0)
            for k in range(64 * m, min(64 * m + 64, num_words)):
                word = words[line, k]
                bit = np.uint64(word != 0)
                content[n] = word  # without a branch: what is zero is written over
                n += 1 if word else 0
                mask |= bit << np.uint64(k - 64 * m)
            content[first + m] = mask
        ends[i] = n
    return n


@jit
def _spread(content: U64, ends: I64, words: U64, rows: U8) -> None:
    """Write sparse rows as dense ones; ``words``: room for one."""
    num_words = len(words)
    num_masks = (num_words + 63) // 64
    last = len(content) - 1
    as_bytes = words.view(np.uint8)
    n = 0
    for i in range(len(ends)):
        first = n
        n += num_masks
        for m in range(num_masks):
            mask = content[first + m]
            for k in range(64 * m, min(64 * m + 64, num_words)):
                bit = (mask >> np.uint64(k - 64 * m)) & np.uint64(1)
                words[k] = content[min(n, last)] * bit
                n += 1 if bit else 0
        for k in range(rows.shape[1]):
            rows[i, k] = as_bytes[k]


@jit
def _copy(content: U64, starts: I64, sizes: I64, own: U64, ends: I64) -> None:
    """Copy pieces of ``content`` one after another."""
    for i in range(len(starts)):
        first, target = starts[i], ends[i] - sizes[i]
        for k in range(sizes[i]):
            own[target + k] = content[first + k]
