"""How long one head is trained: rare decisions get smaller batches and more passes, so that every net learns.

The kong net sees a hundredth of the discard net's samples: with the same settings it would end in its warm-up.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from suphx.training.data.dataset import Encode, num_samples
from suphx.training.supervised.supervised_config import SupervisedConfig

_KYOKUS_AT_A_TIME = 128
_ENOUGH_SAMPLES = 500
_MOST_KYOKUS = 2048
_SMALLEST_BATCH = 64
_MOST_PASSES = 10
"""Times the passes of the settings: more would learn the samples by heart."""


def estimate_samples(encode: Encode, kyokus: NDArray[np.int64]) -> int:
    """Return about how many samples ``kyokus`` have: counted in some of them, which are always the same ones."""
    order = np.random.default_rng(0).permutation(kyokus)[:_MOST_KYOKUS]
    counted = found = 0
    while counted < len(order) and found < _ENOUGH_SAMPLES:
        part = np.sort(order[counted : counted + _KYOKUS_AT_A_TIME])
        found += num_samples(encode(part))
        counted += len(part)
    return round(found / counted * len(kyokus)) if counted else 0


def plan_training(config: SupervisedConfig, samples: int, num_workers: int = 1) -> SupervisedConfig:
    """Return ``config`` with the batch size and the passes that let a head of ``samples`` make ``min_steps`` steps.

    The passes are those of one worker, so that a training can go on with any number of them; the batch size becomes a
    multiple of ``num_workers``. Without a limit of passes there is nothing to change.
    """
    wanted = min(config.min_steps, config.max_steps or config.min_steps)
    batch, epochs = config.batch_size, config.max_epochs
    if not samples or not epochs:
        return config
    while samples * epochs / batch < wanted and batch % 2 == 0 and batch // 2 >= _SMALLEST_BATCH:
        batch //= 2
    passes = min(_MOST_PASSES * epochs, wanted * batch / samples)
    whole = -(-batch // num_workers) * num_workers
    return replace(config, batch_size=whole, max_epochs=max(epochs, round(passes, 3)))
