"""The experience replay buffer of the paper's Figure 6: decisions on their way from simulators to the learner.

First in, first out; bounded in bytes. A full buffer refuses decisions: the sender keeps them and waits, so that
memory stays bounded when the learner is slow. The decisions of a seat in a kyoku (a trajectory) stay together and in
order. Decisions that are too stale are dropped when they would be learned from, and counted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from typing import Any

import numpy as np

from suphx.experience.columns import joined
from suphx.experience.decisions import BOOL, Decisions
from suphx.selfplay.config import ReplayBufferConfig

_LEAST_SHARE = 1 / 8
"""Of a batch, for a head that decides rarely: an update from fewer would mostly move noise."""


@dataclass(slots=True)
class BufferCounts:
    """Decisions since the beginning."""

    added: int = 0
    refused: int = 0
    """Offered while the buffer was full: they come again."""
    stale: int = 0
    """Dropped because their policy, or that of a later decision of the trajectory, was too old."""
    learned: int = 0
    """Given to the learner."""
    lost: int = 0
    """Waited in a buffer whose process died."""

    def plus(self, other: BufferCounts, sign: int = 1) -> BufferCounts:
        """Return the sums; with ``sign`` -1 the differences."""
        return BufferCounts(*(own + sign * more for own, more in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True, slots=True)
class BufferStatus:
    """How a buffer is."""

    is_ready: bool
    """It has a batch, unless what it has is too stale."""
    num_decisions: int
    num_bytes: int
    counts: BufferCounts
    is_stuck: bool = False
    """It is full before it has a batch: nothing can be added or taken."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What one update learns from."""

    parts: Any
    """Decisions by head; of Deep Monte-Carlo, the samples of each seat."""
    staleness: float
    """Mean number of versions behind."""


class ReplayBuffer:
    """Consumes: decisions, unless full. Produces: batches. Waits for: nothing. Unblocked by: ``take``."""

    def __init__(self, config: ReplayBufferConfig, heads: Sequence[int], *, max_batches: int | None = None) -> None:
        """``max_batches``: it is also full once so many batches of a head wait; None: only bytes count."""
        self.counts = BufferCounts()
        self._config = config
        self._max_waiting = None if max_batches is None else max_batches * config.batch_size
        self._blocks: dict[int, deque[Decisions]] = {head: deque() for head in heads}
        self._num_bytes = 0
        self._taken: int | None = None

    @property
    def num_bytes(self) -> int:
        """Bytes of all decisions that wait."""
        return self._num_bytes

    def add(self, parts: Sequence[Decisions]) -> bool:
        """Add decisions of any heads, whole trajectories; False if there is no room: then none was added."""
        num_decisions = sum(map(len, parts))
        waiting = max(map(self._num_decisions, self._blocks))
        has_enough = self._max_waiting is not None and waiting >= self._max_waiting
        num_bytes = self._num_bytes + sum(part.nbytes for part in parts)
        if has_enough or num_bytes > self._config.capacity_bytes:
            self.counts.refused += num_decisions
            return False
        self.counts.added += num_decisions
        for part in parts:
            self._put(part)
        return True

    def take(self, version: int) -> Batch | None:
        """Return a batch for an update of policy ``version``, or None if no head has enough decisions for one.

        A head with enough gives its oldest ``batch_size`` decisions and the rest of their last trajectory. A head with
        fewer gives all that it has, at least an eighth of that, once its oldest would be too stale for the next batch:
        heads that decide rarely would never learn otherwise.
        """
        for head in self._blocks:
            self._drop_stale(head, version)
        ready = [head for head in self._blocks if self._num_decisions(head) >= self._config.batch_size]
        if not ready:
            return None
        parts = {head: self._pop(head, self._config.batch_size) for head in ready}
        step = 0 if self._taken is None else version - self._taken  # more than 1 if several buffers take turns
        rare = [head for head in self._blocks if head not in ready]
        self._taken = version
        oldest, least = version + max(1, step) - self._config.max_staleness, _LEAST_SHARE * self._config.batch_size
        for head in rare:
            would_drop = any((block.versions < oldest).any() for block in self._blocks[head])
            if would_drop and self._num_decisions(head) >= least:
                parts[head] = self._pop(head, self._num_decisions(head))
        self.counts.learned += sum(map(len, parts.values()))
        versions = np.concatenate([part.versions for part in parts.values()])
        return Batch(parts, float(version - versions.mean()))

    def status(self) -> BufferStatus:
        """Return how the buffer is, a copy."""
        rows = [self._num_decisions(head) for head in self._blocks]
        is_ready = max(rows) >= self._config.batch_size
        return BufferStatus(is_ready, sum(rows), self._num_bytes, replace(self.counts))

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return arrays and plain values for ``restore``."""
        arrays: dict[str, np.ndarray] = {}
        for head, blocks in self._blocks.items():
            for number, block in enumerate(blocks):
                arrays |= {f"{head}.{number}.{name}": array for name, array in block.arrays().items()}
        num_blocks = {str(head): len(blocks) for head, blocks in self._blocks.items()}
        return arrays, {"num_blocks": num_blocks, "counts": asdict(self.counts)}

    def restore(self, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> None:
        """Go on from a ``state``."""
        self._num_bytes = 0
        for head, blocks in self._blocks.items():
            blocks.clear()
            for number in range(values["num_blocks"][str(head)]):
                prefix = f"{head}.{number}."
                own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
                self._put(Decisions.from_arrays(head, own))
        self.counts = BufferCounts(**values["counts"])

    def _put(self, part: Decisions) -> None:
        if len(part):
            self._blocks[part.decision].append(part)
            self._num_bytes += part.nbytes

    def _num_decisions(self, head: int) -> int:
        return sum(map(len, self._blocks[head]))

    def _drop_stale(self, head: int, version: int) -> None:
        """Drop what is too stale, and what a seat decided before it in the same kyoku; most blocks are not copied."""
        oldest = version - self._config.max_staleness
        blocks = self._blocks[head]
        for _ in range(len(blocks)):
            block = blocks.popleft()
            self._num_bytes -= block.nbytes
            if (block.versions < oldest).any():
                is_kept = _is_kept(block.versions < oldest, block.is_last)
                self.counts.stale += int((~is_kept).sum())
                block = block.take(np.flatnonzero(is_kept))
            self._put(block)

    def _pop(self, head: int, wanted: int) -> Decisions:
        blocks, taken = self._blocks[head], []
        while wanted > 0:
            block = blocks.popleft()
            self._num_bytes -= block.nbytes
            stop = block.trajectory_end(wanted)
            used, rest = block.part(0, stop), block.part(stop, len(block))
            if len(rest):
                blocks.appendleft(rest)
                self._num_bytes += rest.nbytes
            taken.append(used)
            wanted -= len(used)
        return joined(taken)


_KNOWN_ROUNDS = 4096
"""Numbers of so many rounds are remembered: one that is played again comes soon."""


class RoundBuffer:
    """Rounds of whole games, each a batch, in the order in which they were finished."""

    def __init__(self, capacity: int) -> None:
        """``capacity``: rounds that wait, at most."""
        self.counts = BufferCounts()
        self._capacity = capacity
        self._rounds: deque[Any] = deque()
        self._numbers: deque[int] = deque(maxlen=_KNOWN_ROUNDS)

    def add(self, parts: Sequence[Any]) -> bool:
        """Take rounds in; False if there is no room: then none was added.

        One that it had before is left out: it is played again if the answer of its simulator was lost.
        """
        parts = [part for part in parts if part.number not in self._numbers]
        if parts and len(self._rounds) >= self._capacity:
            self.counts.refused += sum(map(len, parts))
            return False
        self.counts.added += sum(map(len, parts))
        self._rounds.extend(parts)
        self._numbers.extend(part.number for part in parts)
        return True

    def take(self, version: int) -> Batch | None:
        """Return the oldest round."""
        if not self._rounds:
            return None
        first = self._rounds.popleft()
        self.counts.learned += len(first)
        return Batch(first.samples, float(version - first.version))

    def status(self) -> BufferStatus:
        """Return how it is; its decisions are rounds."""
        return BufferStatus(bool(self._rounds), len(self._rounds), 0, replace(self.counts))

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return the counts: a round that nobody has learned from is played again."""
        return {}, {"counts": asdict(self.counts)}

    def restore(self, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> None:
        """Go on from a ``state``."""
        self.counts = BufferCounts(**values["counts"])


def _is_kept(is_stale: BOOL, is_last: BOOL) -> BOOL:
    """Return which rows have no stale row at or after them in their trajectory."""
    stale = is_stale.astype(np.int64)
    num_from = np.cumsum(stale[::-1])[::-1]  # stale rows from each row to the end of all
    ends = np.flatnonzero(is_last)
    num_after = num_from[ends] - stale[ends]
    kept: BOOL = num_from == num_after[np.searchsorted(ends, np.arange(len(is_last)))]
    return kept
