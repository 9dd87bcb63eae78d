"""Ends a process that can do nothing more on its GPU, so that Ray starts another one in its place.

After most errors of CUDA every later call of the same process fails too. A process that lived on would fail at each
request, although its health checks are answered.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

M = TypeVar("M")
_TEXTS = (
    *("CUDA error", "HIP error", "Triton Error [CUDA]"),
    *("CUDNN_STATUS_EXECUTION_FAILED", "CUDNN_STATUS_INTERNAL_ERROR"),
)
_TEXTS_OF_MEMORY = ("out of memory", "ALLOC_FAILED")
_EXIT_CODE = 1
_logger = logging.getLogger(__name__)


@contextmanager
def ending_broken_process() -> Iterator[None]:
    """End this process at an error of its GPU; any other error, such as too little memory, is raised."""
    try:
        yield
    except RuntimeError as error:
        if not is_error_of_gpu(error):
            raise
        _logger.exception("the GPU cannot be used by this process any more: it ends and is started again")
        os._exit(_EXIT_CODE)


def ends_broken_process(method: M) -> M:
    """Return a method of an actor that does this; not for constructors, which Ray would call again and again.

    It stands above ``ray.method``, whose options Ray reads of the innermost function.
    """
    decorate: Any = ending_broken_process()
    return cast(M, decorate(method))


def is_error_of_gpu(error: Exception) -> bool:
    """Tell whether an error of torch says that a GPU, or this process's use of it, has failed; not for its memory."""
    if any(text in str(error) for text in _TEXTS_OF_MEMORY):
        return False
    is_of_device = type(error).__name__ == "AcceleratorError"  # by name: most processes have not loaded torch
    return is_of_device or (isinstance(error, RuntimeError) and any(text in str(error) for text in _TEXTS))
