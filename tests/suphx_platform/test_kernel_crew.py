from __future__ import annotations

import json
import subprocess
import sys

_REPORTERS = """
import os
from suphx_platform.kernel_crew import send
names = "abcd"
for name in names:
    if os.fork() == 0:
        for number in range(300):
            send("compiled", name, number)
        os._exit(0)
for _ in names:
    os.wait()
"""


def test_events_of_several_processes_are_a_line_each() -> None:
    done = subprocess.run([sys.executable, "-c", _REPORTERS], stdout=subprocess.PIPE, check=True, text=True)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(events) == 4 * 300
    assert sorted(event["seconds"] for event in events if event["name"] == "a") == list(range(300))


def test_the_crew_ends_when_its_stdin_is_closed() -> None:
    command = [sys.executable, "-m", "suphx_platform.kernel_crew", "engine"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as crew:
        assert crew.stdin is not None
        crew.stdin.close()
        assert crew.wait(60) == 1
        assert crew.stdout is not None
        assert b"group" not in crew.stdout.read()  # and its workers have closed stdout
