from __future__ import annotations

import json
import sys
import threading

import pytest

from suphx_platform.kernel_crew import _print


def test_events_of_several_threads_are_a_line_each(capfd: pytest.CaptureFixture[str]) -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def report(name: str) -> None:
        for number in range(300):
            _print({"event": "compiled", "name": name, "number": number})

    try:
        threads = [threading.Thread(target=report, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    events = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert len(events) == 4 * 300
    assert sorted(event["number"] for event in events if event["name"] == "a") == list(range(300))
