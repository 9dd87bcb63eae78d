"""Simulator actors that fill the buffer: who plays next, and what becomes of a round whose simulator died."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ray

from suphx.selfplay.layout import RoundLayoutConfig
from suphx_platform.on_ray.monte_carlo.round_actors import PlayedRound, WeightVersion
from suphx_platform.on_ray.monte_carlo.round_buffer import RoundBuffer
from suphx_platform.on_ray.supervision.actor_supervisor import ActorSupervisor

_AHEAD = 2
"""Rounds that a simulator has at a time, so that it never waits for the next one."""


@dataclass(frozen=True, slots=True)
class BufferedRound:
    """A round that waits for the learner."""

    report: PlayedRound
    samples: Any
    """Reference of the samples: they stay in Ray's object store until the learner fetches them."""


@dataclass(slots=True, eq=False)
class _SimulatorHandle:
    """A simulator and what it does."""

    part: str
    actor: Any
    incarnation: int = 0
    """Times that it was told to begin; answers of an earlier incarnation are ignored."""
    is_begun: bool = False
    num_playing: int = 0


class RoundGroup:
    """Consumes: weights, and places in the buffer. Produces: rounds in it. Waits for: the learner, if it is full."""

    def __init__(
        self,
        layout: RoundLayoutConfig,
        simulators: Mapping[str, Any],
        supervisor: ActorSupervisor,
        buffer: RoundBuffer[BufferedRound],
        dealt: int,
    ) -> None:
        """``dealt``: number of the first round."""
        self.dealt = dealt
        """Number of the next round; rounds of dead simulators are played again under their old number."""
        self.playing_seconds = 0.0
        """Of all simulators together."""
        self._supervisor, self._buffer = supervisor, buffer
        self._handles = deque(_SimulatorHandle(part, actor) for part, actor in simulators.items())
        self._again: deque[int] = deque()
        self._is_lockstep = layout.pace == "lockstep"
        self._ahead = 1 if self._is_lockstep else _AHEAD
        for handle in self._handles:
            self._begin(handle)

    @property
    def has_begun(self) -> bool:
        """Tell whether a simulator can play."""
        return any(handle.is_begun for handle in self._handles)

    @property
    def num_playing(self) -> int:
        """Rounds that are being played."""
        return sum(handle.num_playing for handle in self._handles)

    @property
    def num_unplayed(self) -> int:
        """Rounds that were dealt and are not in the buffer yet."""
        return self.num_playing + len(self._again)

    def work(self, version: WeightVersion, *, most: int | None = None) -> None:
        """Let simulators play with the weights ``version``, all by turns, ``most`` rounds in all at a time."""
        for ahead in range(self._ahead):
            for handle in list(self._handles):
                if most is not None and self.num_playing >= most:
                    return
                if handle.is_begun and handle.num_playing == ahead:
                    if not self._buffer.reserve():
                        return
                    self._handles.remove(handle)
                    self._handles.append(handle)
                    self._play(handle, version)

    def _begin(self, handle: _SimulatorHandle) -> None:
        handle.incarnation += 1
        handle.is_begun, handle.num_playing = False, 0
        incarnation = handle.incarnation

        def on_result(_: None) -> None:
            handle.is_begun = handle.is_begun or handle.incarnation == incarnation

        def on_error(error: Exception) -> None:
            if handle.incarnation == incarnation:
                self._supervisor.fail(handle.part, error)
                self._begin(handle)

        self._supervisor.call(handle.part, handle.actor.begin.remote(), on_result, on_error)

    def _play(self, handle: _SimulatorHandle, version: WeightVersion) -> None:
        if self._again:
            number = self._again.popleft()
        else:
            number, self.dealt = self.dealt, self.dealt + 1
        handle.num_playing += 1
        incarnation = handle.incarnation
        report, samples = handle.actor.play.remote(number, version)

        def on_result(played: PlayedRound) -> None:
            try:  # in lockstep no node that is lost takes samples along: the learner may have to repeat the round
                kept = ray.put(ray.get(samples)) if self._is_lockstep else samples
            except ray.exceptions.ObjectLostError as error:
                on_error(error)
                return
            self._buffer.put(BufferedRound(played, kept))
            self.playing_seconds += played.seconds
            self._supervisor.succeed(handle.part)
            if handle.incarnation == incarnation:
                handle.num_playing -= 1

        def on_error(error: Exception) -> None:
            self._buffer.release()
            self._again.append(number)
            if handle.incarnation == incarnation:
                self._supervisor.fail(handle.part, error)
                self._begin(handle)

        self._supervisor.call(handle.part, report, on_result, on_error)
