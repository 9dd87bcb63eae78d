from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time

from suphx_platform.ray.process import cpu_seconds

# A process of its own: in that of the tests, threads and caches of others give memory back meanwhile.
MEASURED = """
import json, os
import numpy as np
from suphx_platform.ray.process import peak_bytes, private_bytes
sizes = {"before": private_bytes()}
block = np.ones(2**26, np.uint8)
sizes |= {"with_block": private_bytes(os.getpid()), "peak": peak_bytes()}
del block
print(json.dumps(sizes | {"after": private_bytes(), "peak_after": peak_bytes(os.getpid())}))
"""


def test_memory_that_is_written_counts_until_it_is_given_back_and_the_peak_stays() -> None:
    sizes = json.loads(subprocess.run([sys.executable, "-c", MEASURED], check=True, capture_output=True).stdout)
    assert sizes["with_block"] - sizes["before"] > 0.9 * 2**26
    assert sizes["after"] - sizes["before"] < 2**24
    assert sizes["peak"] >= 2**26
    assert sizes["peak_after"] > 0.99 * sizes["peak"], "threads report late, so the kernel is a little off"


def test_cpu_time_is_that_of_all_threads() -> None:
    def compute() -> None:
        while time.thread_time() < 0.3:
            pass

    thread = threading.Thread(target=compute)
    thread.start()
    thread.join()
    before, measured, after = time.process_time(), cpu_seconds(os.getpid()), time.process_time()
    assert before - 0.1 < measured < after + 0.1
