"""Decisions of the learning seats, kept until their deal ends and its reward is known (paper, section 3.1).

>>> store = TrajectoryStore(kind, num_tables, observation_bytes)
>>> store.add(tables, seats, observations, outputs, chosen)  # as often as there are outputs
>>> ended = store.take(tables_whose_deal_ended)
>>> decisions = ended.with_rewards(rewards)  # [tables, seats]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from suphx.experience.decisions import BOOL, Decisions, no_decisions
from suphx.experience.observation import F32, Observations, PolicyOutputs
from suphx.experience.sparse_planes import SparsePlanes, padded_bytes
from suphx.kernel.jit import jit
from suphx.kernel.record import I16, I32, I64, U8

_FIRST_CAPACITY = 256
_NOBODY = -1
_NUM_SEATS = 4
_LATER = ("planes", "rewards", "is_last")  # columns that are made when the reward is known


Slots: TypeAlias = dict[str, np.ndarray]
"""The columns of a ``TrajectoryStore``: what is known of a decision before its deal ends, one line each.

Names and types as in ``Decisions``, without rewards; lines of free slots have no meaning. ``planes``: uint8 [slots,
bytes of whole words], dense rows. ``before``: int64 [slots], the slot of the decision before it of the same seat, -1
for the first one of a deal.
"""


@dataclass(frozen=True, slots=True)
class Unrewarded:
    """Decisions whose rewards are not known yet; valid until the next ``add`` of their store."""

    decision: int
    slots: Slots
    """Of the store."""
    observation_bytes: int
    """Of a dense row without what pads it."""
    lines: I64
    """int64 [n]: their slots."""
    ends: I64
    """int64 [n]: which of the tables that ended."""
    seats: I64
    """int64 [n]."""

    def with_rewards(self, rewards: F32) -> Decisions:
        """Return the decisions with ``rewards`` [tables, seats]."""
        lines, ends, seats = self.lines, self.ends, self.seats
        is_change = (ends[1:] != ends[:-1]) | (seats[1:] != seats[:-1])
        kept = {name: column[lines] for name, column in self.slots.items() if name not in ("planes", "before")}
        return Decisions(
            decision=self.decision,
            planes=SparsePlanes.of(self.slots["planes"], lines, observation_bytes=self.observation_bytes),
            rewards=rewards[self.ends, self.seats].astype(np.float32),
            is_last=np.append(is_change, np.ones(min(1, len(ends)), np.bool_)),
            **kept,
        )


class TrajectoryStore:
    """Room for the decisions of one kind at many tables; grows when it must and is used again and again.

    A decision is a *slot*: one line of each column. The slots of a seat are chained, the last decision first; slots in
    no chain are on a stack. With three decisions of a seat and eight slots::

        last[table, seat] = 6        before[6] = 1        before[1] = 4        before[4] = -1
                            |                    |                    |
                            v                    v                    v
                         slot 6  ------------> slot 1  ------------> slot 4
                         (the last one)                              (the first one of the deal)

        free = [7, 5, 3, 2, 0, . . .]   stack: _add takes free[num_free - 1], _unchain puts slots back behind it
                              ^
                              num_free = 5

    ``take`` walks the chains from ``last`` and turns them round, so that decisions come in the order of play.
    """

    def __init__(self, decision: int, num_tables: int, observation_bytes: int, num_choices: int = 0) -> None:
        """Make room for ``num_tables`` tables of four seats.

        ``num_choices``: columns of a mask, 0 where the answer is yes or no.
        """
        self.decision = decision
        none = no_decisions(decision, observation_bytes, num_choices)
        self._observation_bytes = observation_bytes
        columns = {name: column for name, column in none.columns().items() if name not in _LATER}
        planes = np.zeros((0, padded_bytes(observation_bytes)), np.uint8)
        self._slots: Slots = {"planes": planes, "before": np.zeros(0, np.int64), **columns}
        self._free = np.zeros(0, np.int64)
        self._num_free = 0
        self._last = np.full((num_tables, _NUM_SEATS), _NOBODY, np.int64)

    def add(
        self,
        tables: I64,
        seats: I64,
        observations: Observations,
        outputs: PolicyOutputs,
        chosen: I64,
        is_overruled: BOOL | None = None,
    ) -> None:
        """Keep the rows ``chosen`` (indices) of ``observations``: of ``seats`` at ``tables``, int64 [n] each; all that
        is known at one time, in one call. ``is_overruled`` bool [n], None for none.
        """
        while self._num_free < len(chosen):
            self._grow()
        slots = self._slots
        self._num_free = _add(
            tables, seats, observations.planes, observations.masks, outputs.actions, outputs.log_probs,
            outputs.versions, _NONE if is_overruled is None else is_overruled, chosen, slots["planes"], slots["masks"],
            slots["actions"], slots["log_probs"], slots["versions"], slots["is_overruled"], slots["is_joint"],
            slots["before"], self._last, self._free, self._num_free,
        )  # fmt: skip

    def overrule(self, tables: I64, seats: I64) -> None:
        """Mark the last yes without a mark of each of ``seats`` at ``tables``, int64 [n] each, if there is one: claims
        that were kept, and that the end of the claim window overruled.
        """
        slots = self._slots
        _overrule(tables, seats, self._last, slots["before"], slots["actions"], slots["is_overruled"])

    def take(self, tables: I64) -> Unrewarded:
        """Return, and forget, what the seats at ``tables`` decided, table by table, seat by seat, in order.

        To be copied before the next ``add``.
        """
        before = self._slots["before"]
        lines = np.zeros(_count(tables, self._last, before), np.int64)
        ends, seats = np.zeros_like(lines), np.zeros_like(lines)
        self._num_free = _unchain(tables, self._last, before, self._free, self._num_free, lines, ends, seats)
        return Unrewarded(self.decision, self._slots, self._observation_bytes, lines, ends, seats)

    def state(self) -> dict[str, np.ndarray]:
        """Return all that ``restore`` needs."""
        return self._slots | {"last": self._last, "free": self._free, "num_free": np.array([self._num_free])}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from a ``state``."""
        self._slots = {name: state[name].copy() for name in self._slots}
        self._last, self._free = state["last"].copy(), state["free"].copy()
        self._num_free = int(state["num_free"][0])

    def _grow(self) -> None:
        size = len(self._slots["before"])
        larger = max(size + _FIRST_CAPACITY, size + size // 8)  # spare lines cost memory
        for column in self._slots.values():
            _lengthen(column, larger)
        _lengthen(self._free, larger)
        self._free[self._num_free : self._num_free + larger - size] = np.arange(larger - 1, size - 1, -1)
        self._num_free += larger - size


def _lengthen(column: np.ndarray, size: int) -> None:
    """Give a column ``size`` lines in place; the system moves the pages of a large one instead of copying them."""
    column.resize((size, *column.shape[1:]), refcheck=False)


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
        slot, owner = free[num_free], last.shape[1] * tables[i] + seats[i]
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
        for seat in range(last.shape[1]):
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
        for seat in range(last.shape[1]):
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
