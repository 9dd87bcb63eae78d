from __future__ import annotations

import gc
import os
import time

import numpy as np

from suphx_platform.on_ray.actor.process_memory import cpu_seconds, peak_bytes, private_bytes


def test_memory_that_is_written_counts_until_it_is_given_back_and_the_peak_stays() -> None:
    gc.collect()  # what other tests left would be freed meanwhile
    before = private_bytes()
    block = np.ones(2**26, np.uint8)
    assert private_bytes(os.getpid()) - before > 0.9 * block.nbytes
    peak = peak_bytes()
    assert peak >= block.nbytes
    del block
    assert private_bytes() - before < 2**24
    assert peak_bytes(os.getpid()) > 0.99 * peak, "threads report late, so the kernel is a little off"


def test_cpu_time_is_that_of_all_threads() -> None:
    before, measured, after = time.process_time(), cpu_seconds(os.getpid()), time.process_time()
    assert before - 0.1 < measured < after + 0.1
