"""Which parts of a run have no place yet, or have not started: a line now and then for whoever waits."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping

import ray

_SAY_SECONDS = 30.0
_SHOWN = ("CPU", "GPU", "simulator", "inference", "learner")


class MissingParts:
    """Consumes: the names of the parts that live. Produces: lines. Waits for: nothing."""

    def __init__(
        self,
        parts: Collection[str],
        say: Callable[[str], None],
        *,
        remedy: str,
        needs: Mapping[str, str] | None = None,
    ) -> None:
        """``parts``: the names of all; ``remedy``: what helps if the nodes do not offer enough.

        ``needs``: sentences about what some parts wait for, by part.
        """
        self._needs = needs or {}
        self._parts, self._say, self._remedy = set(parts), say, remedy
        self._said_at, self._has_waited = time.monotonic(), False

    def look(self, living: Collection[str]) -> None:
        """Say which parts are missing among the ``living``, if that has not been said for a while."""
        missing = self._parts.difference(living)
        now = time.monotonic()
        if not missing:
            if self._has_waited:
                self._say("all parts are there")
            self._said_at, self._has_waited = now, False
        elif now > self._said_at + _SAY_SECONDS:
            self._said_at, self._has_waited = now, True
            names = ", ".join(sorted(missing)[:5])
            needs = "".join(f"; {self._needs[part]}" for part in sorted(missing & self._needs.keys()))
            offered = {name: n for name, n in ray.cluster_resources().items() if name in _SHOWN}
            self._say(
                f"waiting for {names}: starting or not scheduled yet{needs}; the nodes offer {offered}. If that is not "
                f"enough, add nodes, or {self._remedy}"
            )
