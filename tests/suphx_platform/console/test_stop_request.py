from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from suphx_platform.console.stop_request import StopRequest, TwoStepStop

PROGRAM = """
import os, signal, sys
from suphx_platform.console.stop_request import StopRequest, TwoStepStop
number = int(sys.argv[1])
try:
    with TwoStepStop():
        if sys.argv[2] == "saving":
            with StopRequest() as stop:
                os.kill(os.getpid(), number)
                assert stop.is_made
                raise EOFError("saved")
        else:
            os.kill(os.getpid(), number)
except KeyboardInterrupt:
    print("unwound")
    sys.exit(3)
except EOFError:
    pass
try:
    with TwoStepStop("Continue with: suphx run laptop"):
        try:
            with StopRequest() as stop:
                os.kill(os.getpid(), number)
                if sys.argv[3] == "inside":
                    os.kill(os.getpid(), number)
            raise KeyboardInterrupt
        finally:
            os.kill(os.getpid(), number)
finally:
    print("not reached")
"""


@pytest.fixture(autouse=True)
def terminal() -> Iterator[None]:
    """Let SIGHUP end this process, also where the tests were started with nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_is_kept_inside_the_block(number: signal.Signals, capfd: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(number)
    with StopRequest() as stop:
        assert not stop.is_made
        os.kill(os.getpid(), number)
        assert stop.is_made
    assert signal.getsignal(number) is before
    assert "a second Ctrl-C ends the command at once" in capfd.readouterr().err


def test_the_first_signal_raises_without_a_request() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), TwoStepStop():
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_block_that_ends_in_spite_of_a_request_passes_it_on() -> None:
    ended: list[bool] = []

    def work() -> None:
        with TwoStepStop(), StopRequest():
            os.kill(os.getpid(), signal.SIGTERM)
            ended.append(True)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert ended


def test_an_error_in_the_block_is_not_replaced_by_a_request() -> None:
    def work() -> None:
        with TwoStepStop(), StopRequest():
            os.kill(os.getpid(), signal.SIGTERM)
            raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        work()


@pytest.mark.parametrize("place", ["inside", "after"])
def test_a_second_ctrl_c_ends_the_process_at_once(place: str) -> None:
    words = [sys.executable, "-c", PROGRAM, str(signal.SIGINT.value), "saving", place]
    child = subprocess.run(words, capture_output=True, text=True)
    assert child.returncode == 130
    assert child.stdout == ""
    assert child.stderr.endswith(
        "\nsuphx: ended at once; only the state of the last save is kept. Continue with: suphx run laptop\n"
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_cluster_or_a_closed_terminal_may_ask_twice_and_nothing_is_lost(number: signal.Signals) -> None:
    with StopRequest() as stop:
        for _ in range(2):
            os.kill(os.getpid(), number)
        assert stop.is_made
    with pytest.raises(KeyboardInterrupt), TwoStepStop():
        _ask_twice(number)


def _ask_twice(number: signal.Signals) -> None:
    try:
        os.kill(os.getpid(), number)
    finally:
        os.kill(os.getpid(), number)  # while the state is being saved


NOHUP = """
import os, signal, sys
from suphx_platform.console.stop_request import take_interrupts
from suphx_platform.console.stop_request import StopRequest
signal.signal(signal.SIGHUP, signal.SIG_IGN if sys.argv[1] == "nohup" else signal.SIG_DFL)
take_interrupts()
with StopRequest() as stop:
    os.close(2)
    os.kill(os.getpid(), signal.SIGHUP)
print("asked to stop" if stop.is_made else "goes on")
try:
    os.kill(os.getpid(), signal.SIGHUP)
    print("went on")
except KeyboardInterrupt:
    print("stopped")
"""


@pytest.mark.parametrize(
    ("how", "printed"), [("nohup", ["goes on", "went on"]), ("terminal", ["asked to stop", "stopped"])]
)
def test_a_closed_terminal_stops_a_command_except_after_nohup(how: str, printed: list[str]) -> None:
    child = subprocess.run([sys.executable, "-c", NOHUP, how], capture_output=True, text=True, check=True)
    assert child.stdout.splitlines() == printed


LOST = """
import os, signal, sys, time
from suphx_platform.console.stop_request import take_interrupts
from suphx_platform.console.stop_request import TwoStepStop
class Stopped:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0)  # Python drops what a destructor raises
take_interrupts()
try:
    with TwoStepStop():
        Stopped()
        time.sleep(30)
except KeyboardInterrupt:
    print("unwound")
"""


def test_a_first_signal_that_was_lost_in_a_destructor_is_raised_again() -> None:
    done = subprocess.run([sys.executable, "-c", LOST], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("unwound\n", "")
