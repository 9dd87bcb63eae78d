"""The first weights of nets: they follow from a seed, whatever else draws random numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def first_weights(seed: int) -> Iterator[None]:
    """Let nets that the block makes on the CPU have the weights of ``seed``; torch's own random state stays as it was.

    >>> with first_weights(1):
    ...     net = PolicyNet(head, num_planes, config)
    """
    with torch.random.fork_rng(devices=[]):  # with them it warns on every machine with several GPUs
        torch.default_generator.manual_seed(seed)
        yield
