"""Small matches beside training, each a task of Ray on a node for simulators."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import ray

from suphx.printable_text import first_line
from suphx.selfplay.backend import Match
from suphx.selfplay.layout import BESIDE


class TaskMatches:
    """Consumes: orders. Produces: outcomes. Waits for: a node for simulators; Ray plays a match again that is lost."""

    def play(self, order: Match) -> Future[Any]:
        """Have a match played; its error is a ChildProcessError if it was lost with its process or node."""
        return outcome_or_loss(_play.remote(order).future())

    def close(self) -> None:
        """Do nothing: Ray ends tasks with the run."""


@ray.remote(num_cpus=0, resources={"simulator": BESIDE}, max_retries=3)
def _play(order: Match) -> Any:
    return order.play()


def outcome_or_loss(found: Future[Any]) -> Future[Any]:
    """Return the outcome of a match as it comes: ChildProcessError if it was lost with its process or node."""
    outcome: Future[Any] = Future()

    def pass_on(found: Future[Any]) -> None:
        error = found.exception()
        if error is None:
            outcome.set_result(found.result())
        elif isinstance(error, ray.exceptions.RayError) and not isinstance(error, ray.exceptions.RayTaskError):
            hint = "see the logs of Ray's workers; nodes may have too little memory"
            outcome.set_exception(ChildProcessError(f"{first_line(error)}: {hint}"))
        else:
            outcome.set_exception(error)

    found.add_done_callback(pass_on)
    return outcome
