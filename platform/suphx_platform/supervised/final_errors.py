"""Errors of workers that every attempt would meet: Ray Train is not to start the workers again after them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ray.train import UserCallback

from suphx.training.loop.prediction import DivergedError


class FinalErrors(UserCallback):
    """Ends a training with the error of a worker, if that is final, whatever ``max_failures`` is.

    Ray Train calls it in its controller. What it raises becomes the ``controller_failure`` of the ControllerError that
    ``fit`` raises.
    """

    def after_exception(self, run_context: Any, worker_exceptions: Mapping[int, Exception]) -> None:
        """Raise the first final one of ``worker_exceptions`` (rank -> error).

        A wrong value is not final beside another error: it may be the consequence of a worker that was lost.
        """
        errors = worker_exceptions.values()
        are_all_final = all(map(is_final, errors))
        for error in errors:
            if isinstance(error, DivergedError) or (are_all_final and is_final(error)):
                raise error


def is_final(error: Exception) -> bool:
    """Tell whether ``error`` follows from the settings and the data alone: a loss that is not finite, a wrong value.

    Errors of libraries that derive from ValueError, such as those of damaged JSON, do not count; our own do.
    """
    is_own = type(error) is ValueError or type(error).__module__.startswith("suphx")
    return isinstance(error, DivergedError) or (isinstance(error, ValueError) and is_own)
