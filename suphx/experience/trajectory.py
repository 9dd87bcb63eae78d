"""Decisions of the learning seats, kept until their kyoku ends and its reward is known (paper, section 3.1).

>>> store = TrajectoryStore(DISCARD_HEAD, num_tables, row_bytes, num_choices)
>>> store.add(tables, seats, observations, outputs, chosen)  # as often as there are outputs
>>> ended = store.take(tables_whose_kyoku_ended)
>>> decisions = ended.with_rewards(rewards)  # [tables, 4] by seat
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from suphx.experience.observation import F32, Observations, PolicyOutputs
from suphx.experience.sparse_rows import SparseRows, concatenate_rows, padded_bytes
from suphx.kernel.jit import jit
from suphx.kernel.record import I16, I32, I64, U8

BOOL = NDArray[np.bool_]

_FIRST_CAPACITY = 256
_NOBODY = -1


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions of one head with their rewards: what a learner learns from."""

    head: int
    rows: SparseRows
    """n rows of bit-packed planes."""
    masks: U8
    """uint8 [n, 34], or [n, 0]."""
    costs: I16
    """int16 [n, 34]: what each discard costs at once (deal_in.py), or [n, 0] if that is not used."""
    actions: I16
    """int16 [n]: the sampled answers: a kind to discard, or 1 = yes and 0 = no."""
    is_overruled: BOOL
    """bool [n]: a yes that was not done, because a surer claim or kan of the same seat, or another seat's claim or win,
    went first. All other answers were done: a yes without this mark is an action of the game, a no is none. For
    comparisons with records; the loss does not use it (docs/self-play.md)."""
    is_joint: BOOL
    """bool [n]: decided at the same time as the row before it in its trajectory: the net was asked about several claims
    or kans. Their order has no meaning: together they are one step of a trajectory (advantage.py)."""
    log_probs: F32
    """Of the behaviour policy."""
    versions: I32
    """Of the behaviour policy."""
    rewards: F32
    """Points."""
    is_last: BOOL
    """bool [n]: the last decision of a seat in its kyoku. The rows of a seat in a kyoku follow one another in order of
    play."""

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def num_bytes(self) -> int:
        """Size of all columns."""
        return self.rows.nbytes + sum(column.nbytes for column in self.columns().values())

    def columns(self) -> dict[str, np.ndarray]:
        """Return the columns by name, without the rows."""
        return {name: getattr(self, name) for name in COLUMNS}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all that ``from_arrays`` needs."""
        return self.columns() | self.rows.arrays()

    @classmethod
    def from_arrays(cls, head: int, arrays: Mapping[str, np.ndarray]) -> Decisions:
        """Return what ``arrays`` was made of."""
        return cls(head, SparseRows.from_arrays(arrays), **{name: arrays[name] for name in COLUMNS})

    def copied(self) -> Decisions:
        """Return a copy that shares no memory with this one."""
        return Decisions(self.head, self.rows.copied(), **{n: np.array(c) for n, c in self.columns().items()})

    def part(self, start: int, stop: int) -> Decisions:
        """Return the lines ``start`` up to ``stop``, at most to the end, without copying them."""
        stop = min(stop, len(self))
        return Decisions(
            self.head, self.rows.part(start, stop), **{n: c[start:stop] for n, c in self.columns().items()}
        )

    def trajectory_end(self, num_rows: int) -> int:
        """Return the number of lines up to the first end of a trajectory at or after ``num_rows``, at most all."""
        if not 0 < num_rows < len(self):
            return min(num_rows, len(self))
        return num_rows + int(self.is_last[num_rows - 1 :].argmax())

    def with_permuted_rewards(self, seed: Sequence[int]) -> Decisions:
        """Return the decisions with the rewards of whole trajectories shuffled, from which nothing can be learned.

        Nor from what discards cost at once: they cost nothing.
        """
        is_first = np.append(np.ones(min(1, len(self)), np.bool_), self.is_last[:-1])
        permuted = np.random.default_rng(seed).permutation(self.rewards[is_first])
        return replace(self, rewards=permuted[np.cumsum(is_first) - 1], costs=np.zeros_like(self.costs))

    def split(self, num_parts: int) -> list[Decisions]:
        """Return ``num_parts`` parts of whole trajectories, as even as these allow, perhaps empty ones; no copies."""
        borders = [self.trajectory_end(-(-len(self) * number // num_parts)) for number in range(num_parts + 1)]
        return [self.part(start, stop) for start, stop in pairwise(borders)]

    def take(self, indices: I64) -> Decisions:
        """Return copies of the lines ``indices``."""
        return Decisions(self.head, self.rows.take(indices), **{n: c[indices] for n, c in self.columns().items()})


COLUMNS = tuple(field.name for field in fields(Decisions) if field.name not in ("head", "rows"))
_ADDED_COLUMNS = ("rewards", "is_last")  # known when the kyoku has ended
_KEPT_COLUMNS = tuple(name for name in COLUMNS if name not in _ADDED_COLUMNS)


def concatenate(parts: Sequence[Decisions]) -> Decisions:
    """Return the lines of all ``parts``, one or more of one head, one after another."""
    if len(parts) == 1:
        return parts[0]
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS}
    return Decisions(parts[0].head, concatenate_rows([part.rows for part in parts]), **columns)


@dataclass(frozen=True, slots=True)
class Unrewarded:
    """Decisions whose rewards are still to be given; they lie in their store, until something is added there."""

    head: int
    kept: Mapping[str, np.ndarray]
    """Columns of the store that are known before the kyoku ends, and padded dense ``rows``."""
    row_bytes: int
    """Of a dense row without what pads it."""
    lines: I64
    """int64 [n]: where in it."""
    ends: I64
    """int64 [n]: which of the tables that ended."""
    seats: I64
    """int64 [n]."""

    def with_rewards(self, rewards: F32) -> Decisions:
        """Return the decisions with ``rewards`` [tables, 4] by seat."""
        rows = SparseRows.of(self.kept["rows"], self.lines, row_bytes=self.row_bytes)
        columns = {name: self.kept[name][self.lines] for name in _KEPT_COLUMNS}
        own_rewards = rewards[self.ends, self.seats].astype(np.float32)
        return Decisions(self.head, rows, **columns, rewards=own_rewards, is_last=self._is_last())

    def _is_last(self) -> BOOL:
        """Return which lines are the last ones of a seat in a kyoku."""
        trajectories = 4 * self.ends + self.seats
        return np.append(trajectories[1:] != trajectories[:-1], np.ones(min(1, len(trajectories)), np.bool_))


class TrajectoryStore:
    """Room for the decisions of one head at many tables; grows when it must and is used again and again.

    A decision is a *slot*: one line of each column. The slots of a seat are chained, the last decision first; slots in
    no chain are on a stack. With three decisions of a seat and eight slots::

        last[table, seat] = 6        before[6] = 1        before[1] = 4        before[4] = -1
                            |                    |                    |
                            v                    v                    v
                         slot 6  ------------> slot 1  ------------> slot 4
                         (the last one)                              (the first one of the kyoku)

        free = [7, 5, 3, 2, 0, . . .]   stack: _add takes free[num_free - 1], _unchain puts slots back behind it
                              ^
                              num_free = 5

    ``take`` walks the chains from ``last`` and turns them round, so that decisions come in the order of play.
    """

    def __init__(
        self, head: int, num_tables: int, row_bytes: int, num_choices: int, *, has_costs: bool = False
    ) -> None:
        """Make room for ``num_tables`` tables.

        ``num_choices``: columns of a mask, 0 where the head answers yes or no. ``has_costs``: decisions are kept with
        what each discard costs at once.
        """
        self.head = head
        none = no_decisions(head, row_bytes, num_choices, has_costs=has_costs)
        self._row_bytes = row_bytes
        self._rows = np.zeros((0, padded_bytes(row_bytes)), np.uint8)
        self._masks, self._costs = none.masks, none.costs
        self._actions, self._is_overruled, self._is_joint = none.actions, none.is_overruled, none.is_joint
        self._log_probs, self._versions = none.log_probs, none.versions
        self._before = np.zeros(0, np.int64)
        self._free = np.zeros(0, np.int64)
        self._num_free = 0
        self._last = np.full((num_tables, 4), _NOBODY, np.int64)

    @property
    def has_costs(self) -> bool:
        """Tell whether decisions are kept with what each discard costs at once."""
        return self._costs.shape[1] > 0

    def add(
        self,
        tables: I64,
        seats: I64,
        observations: Observations,
        outputs: PolicyOutputs,
        chosen: I64,
        costs: I16 | None = None,
        is_overruled: BOOL | None = None,
    ) -> None:
        """Keep the rows ``chosen`` (indices) of ``observations``: of ``seats`` at ``tables``, int64 [n] each.

        All that is known at one time, in one call. ``costs`` int16 [chosen, 34], if the store has them;
        ``is_overruled`` bool [n], None for none.
        """
        while self._num_free < len(chosen):
            self._grow()
        if costs is not None:
            last_free = self._num_free - 1
            self._costs[self._free[last_free - len(chosen) + 1 : last_free + 1][::-1]] = costs
        self._num_free = _add(
            tables, seats, observations.rows, observations.masks, outputs.actions, outputs.log_probs, outputs.versions,
            _NONE if is_overruled is None else is_overruled, chosen, self._rows, self._masks, self._actions,
            self._log_probs, self._versions, self._is_overruled, self._is_joint, self._before, self._last, self._free,
            self._num_free,
        )  # fmt: skip

    def overrule(self, tables: I64, seats: I64) -> None:
        """Mark the last yes of each of ``seats`` at ``tables``, int64 [n] each, that has no mark yet, if there is one.

        For claims that were proposed and kept, and that the end of the claim window then overruled.
        """
        _overrule(tables, seats, self._last, self._before, self._actions, self._is_overruled)

    def take(self, tables: I64) -> Unrewarded:
        """Return, and forget, what the seats at ``tables`` decided, table by table, seat by seat, in order.

        To be copied before the next ``add``.
        """
        slots = np.zeros(_count(tables, self._last, self._before), np.int64)
        ends, seats = np.zeros_like(slots), np.zeros_like(slots)
        self._num_free = _unchain(tables, self._last, self._before, self._free, self._num_free, slots, ends, seats)
        kept = {name: getattr(self, f"_{name}") for name in ("rows", *_KEPT_COLUMNS)}
        return Unrewarded(self.head, kept, self._row_bytes, slots, ends, seats)

    def state(self) -> dict[str, np.ndarray]:
        """Return all that ``restore`` needs."""
        return {name: getattr(self, f"_{name}") for name in _STATE} | {"num_free": np.array([self._num_free])}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Go on from a ``state``."""
        for name in _STATE:
            setattr(self, f"_{name}", state[name].copy())
        self._num_free = int(state["num_free"][0])

    def _grow(self) -> None:
        size = len(self._actions)
        larger = max(size + _FIRST_CAPACITY, _more(size))
        for name in _COLUMNS:
            _lengthen(getattr(self, f"_{name}"), larger)
        _lengthen(self._free, larger)
        self._free[self._num_free : self._num_free + larger - size] = np.arange(larger - 1, size - 1, -1)
        self._num_free += larger - size


def no_decisions(head: int, row_bytes: int, num_choices: int, *, has_costs: bool = False) -> Decisions:
    """Return none of a head, whose masks have ``num_choices`` columns: 0 where it answers yes or no."""
    return Decisions(
        head=head,
        rows=SparseRows.none(row_bytes),
        masks=np.zeros((0, num_choices), np.uint8),
        costs=np.zeros((0, num_choices if has_costs else 0), np.int16),
        actions=np.zeros(0, np.int16),
        is_overruled=np.zeros(0, np.bool_),
        is_joint=np.zeros(0, np.bool_),
        log_probs=np.zeros(0, np.float32),
        versions=np.zeros(0, np.int32),
        rewards=np.zeros(0, np.float32),
        is_last=np.zeros(0, np.bool_),
    )


def _more(size: int) -> int:
    """Return how long to make columns of ``size`` lines: what is not needed of it takes memory, too."""
    return size + size // 8


def _lengthen(column: np.ndarray, size: int) -> None:
    """Give a column ``size`` lines in place; the system moves the pages of a large one instead of copying them."""
    column.resize((size, *column.shape[1:]), refcheck=False)


_COLUMNS = ("rows", "masks", "costs", "actions", "is_overruled", "is_joint", "log_probs", "versions", "before")
_STATE = (*_COLUMNS, "last", "free")


_NONE = np.zeros(0, np.bool_)


@jit
def _add(
    tables: I64, seats: I64, rows: U8, masks: U8, actions: I16, log_probs: F32, versions: I32, is_overruled: BOOL,
    chosen: I64, own_rows: U8, own_masks: U8, own_actions: I16, own_log_probs: F32, own_versions: I32,
    own_is_overruled: BOOL, own_is_joint: BOOL, before: I64, last: I64, free: I64, num_free: int,
) -> int:  # fmt: skip
    """Copy the rows ``chosen`` into free slots, the last one first, and chain them; return how many are still free.

    ``is_overruled`` may be empty. All in one call: between two kernels another thread may take Python's lock.
    """
    owner_before = -1
    for i in chosen:
        num_free -= 1
        slot, owner = free[num_free], 4 * tables[i] + seats[i]
        for k in range(rows.shape[1]):  # numba copies an array to an array at a third of this speed
            own_rows[slot, k] = rows[i, k]
        for k in range(masks.shape[1]):
            own_masks[slot, k] = masks[i, k]
        own_actions[slot] = actions[i]
        own_log_probs[slot] = log_probs[i]
        own_versions[slot] = versions[i]
        own_is_overruled[slot] = len(is_overruled) > 0 and is_overruled[i]
        own_is_joint[slot] = owner == owner_before
        before[slot] = last[tables[i], seats[i]]
        last[tables[i], seats[i]] = slot
        owner_before = owner
    return num_free


@jit
def _overrule(tables: I64, seats: I64, last: I64, before: I64, actions: I16, is_overruled: BOOL) -> None:
    for n in range(len(tables)):
        slot = last[tables[n], seats[n]]
        while slot >= 0 and (actions[slot] != 1 or is_overruled[slot]):
            slot = before[slot]
        if slot >= 0:
            is_overruled[slot] = True


@jit
def _count(tables: I64, last: I64, before: I64) -> int:
    n = 0
    for table in tables:
        for seat in range(4):
            slot = last[table, seat]
            while slot >= 0:
                n += 1
                slot = before[slot]
    return n


@jit
def _unchain(
    tables: I64, last: I64, before: I64, free: I64, num_free: int, slots: I64, ends: I64, seats: I64
) -> int:  # fmt: skip
    """Fill ``slots``, ``ends`` and ``seats`` in the order of play; free the slots; return how many are free."""
    n = 0
    for e in range(len(tables)):
        for seat in range(4):
            first = n
            slot = last[tables[e], seat]
            while slot >= 0:
                slots[n] = slot
                ends[n] = e
                seats[n] = seat
                n += 1
                slot = before[slot]
            slots[first:n] = slots[first:n][::-1].copy()
            last[tables[e], seat] = -1
    for i in range(n):
        free[num_free + i] = slots[i]
    return num_free + n
