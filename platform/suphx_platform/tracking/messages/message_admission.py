"""What becomes of messages while MLflow is away for so long that its queue fills up.

Tags, states of runs, files and final figures are always taken. Points of curves are thinned out in steps: when half of
the queue is full every second point of a curve is kept, at three quarters every fourth, and so on. Each step lasts as
long as the one before, so that a curve becomes coarser instead of ending. A full queue takes no points.
"""

from __future__ import annotations

import logging
import math
from collections import defaultdict, deque
from collections.abc import Callable

from suphx_platform.console.table_text import count_text
from suphx_platform.tracking.messages.message_log import Message

_logger = logging.getLogger(__name__)


class MessageAdmission:
    """Consumes: messages. Produces: those that are taken, in order, as calls of ``append``.

    A message that must not be lost but that a full disk does not take is held in memory, and appended before the next
    one. Not thread-safe: the caller has a lock.
    """

    def __init__(self, append: Callable[[Message], None], fill: Callable[[], float], place: object) -> None:
        """``append`` raises OSError if the disk is full; ``fill``: the share of the queue that is full.

        ``place``: of the queue, for warnings.
        """
        self._append, self._fill, self._place = append, fill, place
        self._held: deque[Message] = deque()
        self._seen: defaultdict[tuple[str, ...], int] = defaultdict(int)
        self._stride = 1
        self._is_disk_told = False
        self.num_left_out = 0
        """Messages with points of curves that were not taken."""

    def __len__(self) -> int:
        """Return how many messages are held in memory."""
        return len(self._held)

    def put(self, message: Message) -> None:
        """Take a message, or leave it out if it is a point of a curve and there is no room for it."""
        self.write_held()
        is_point = message["do"] == "metrics" and bool(message.get("is_curve"))
        if is_point and (self._held or not self._has_room_for(message)):
            self.num_left_out += 1
            return
        if not self._held and self._is_written(message):
            return
        if is_point:
            self.num_left_out += 1
        else:
            self._held.append(message)

    def write_held(self) -> None:
        """Append what is held in memory, as far as the disk takes it."""
        while self._held and self._is_written(self._held[0]):
            self._held.popleft()

    def summary(self) -> str:
        """Return what was left out or is only in memory, as sentences with a blank before each; empty if nothing."""
        left_out = count_text(self.num_left_out, "point of a curve was", "points of curves were")
        texts = [f" {left_out} left out, because the queue or the disk was full."] if self.num_left_out else []
        if self._held:
            texts.append(f" {count_text(len(self._held), 'message')} could not be written to the disk.")
        return "".join(texts)

    def _is_written(self, message: Message) -> bool:
        try:
            self._append(message)
        except OSError as error:
            if not self._is_disk_told:
                self._is_disk_told = True
                text = "%s takes no messages for MLflow (%s): they wait in memory, points of curves are left out"
                _logger.warning(text, self._place, error)
            return False
        self._is_disk_told = False
        return True

    def _has_room_for(self, message: Message) -> bool:
        """Tell whether this point of its curves is one of those that are kept now."""
        free = 1 - self._fill()
        stride = 0 if free <= 0 else 2 ** int(-math.log2(free)) if free < 1 else 1
        if stride != self._stride:
            self._warn(stride)
            self._stride = stride
        curve = (str(message["key"]), *(str(entry[0]) for entry in message["metrics"]))
        number = self._seen[curve]
        self._seen[curve] += 1
        return stride > 0 and number % stride == 0

    def _warn(self, stride: int) -> None:
        if stride == 1:
            _logger.warning("the queue for MLflow has room again: every point of a curve is kept")
        elif stride == 0:
            _logger.warning("the queue for MLflow (%s) is full: points of curves are left out", self._place)
        elif stride > self._stride > 0:
            text = "the queue for MLflow (%s) is %.0f %% full: one of %d points of each curve is kept"
            _logger.warning(text, self._place, 100 * self._fill(), stride)
