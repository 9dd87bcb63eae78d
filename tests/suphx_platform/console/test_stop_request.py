from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from suphx_platform.console.stop_request import StopRequest, TwoStepStop


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


def interrupt() -> None:
    with TwoStepStop():
        os.kill(os.getpid(), signal.SIGTERM)


def interrupt_late() -> None:
    with TwoStepStop(), StopRequest():
        os.kill(os.getpid(), signal.SIGTERM)


def interrupt_before_an_error() -> None:
    with TwoStepStop(), StopRequest():
        os.kill(os.getpid(), signal.SIGTERM)
        raise ValueError("wrong")


def interrupt_twice() -> None:
    with TwoStepStop():
        try:
            os.kill(os.getpid(), signal.SIGHUP)
        finally:
            os.kill(os.getpid(), signal.SIGHUP)  # while the state is being saved


@pytest.mark.parametrize(
    ("work", "error"),
    [
        (interrupt, KeyboardInterrupt),
        (interrupt_late, KeyboardInterrupt),
        (interrupt_before_an_error, ValueError),
        (interrupt_twice, KeyboardInterrupt),
    ],
)
def test_a_request_is_raised_unless_the_block_has_an_error(
    work: Callable[[], None], error: type[BaseException]
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(error):
        work()
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_cluster_or_a_closed_terminal_may_ask_twice_and_nothing_is_lost(number: signal.Signals) -> None:
    with StopRequest() as stop:
        for _ in range(2):
            os.kill(os.getpid(), number)
        assert stop.is_made


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program that imports all of the room."""
    head = "import os, signal, sys, time\nfrom suphx_platform.console.stop_request import *\n"
    return subprocess.run([sys.executable, "-c", head + code, *arguments], capture_output=True, text=True)


SECOND_CTRL_C = """
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
try:
    with TwoStepStop():
        with StopRequest() as stop:
            interrupt()
            raise EOFError("saved")
except EOFError:
    pass  # another block starts again
try:
    with TwoStepStop("Continue with: suphx run laptop"):
        try:
            with StopRequest() as stop:
                interrupt()
                if sys.argv[1] == "inside":
                    interrupt()
            raise KeyboardInterrupt
        finally:
            interrupt()
finally:
    print("not reached")
"""


@pytest.mark.parametrize("place", ["inside", "after"])
def test_a_second_ctrl_c_ends_the_process_at_once(place: str) -> None:
    done = run(SECOND_CTRL_C, place)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.endswith(
        "\nsuphx: ended at once; only the state of the last save is kept. Continue with: suphx run laptop\n"
    )


NOHUP = """
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
    assert run(NOHUP, how).stdout.splitlines() == printed


LOST = """
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
    done = run(LOST)
    assert (done.stdout, done.stderr) == ("unwound\n", "")
