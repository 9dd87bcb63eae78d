"""Starts a program with limits, and ends it with everything that it has started: a script of its own process.

``python -I -S program_launcher.py PARENT IS_SANDBOXED WORD…``, which programs.py runs. It imports nothing of
this project, so that it starts in hundredths of a second. Consumes: the command line of a program. Waits for: the end
of the program and of all its descendants, or SIGTERM, which the kernel also sends when process PARENT dies; then it
kills those that are left. A descendant that has begun a session of its own, or whose parent has ended, is found too
(PR_SET_CHILD_SUBREAPER).

Without a sandbox (IS_SANDBOXED is 0), a program of root keeps the capabilities for files only.
"""

# pathlib takes a third of the time in which all of this is imported.
# ruff: noqa: PTH116, PTH123, PTH208

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from contextlib import suppress
from typing import NoReturn

_GIB = 1 << 30
_LIMITS = {
    resource.RLIMIT_DATA: 8 * _GIB,  # private writable pages, so that nets which only reserve addresses can be loaded
    resource.RLIMIT_FSIZE: _GIB,
    resource.RLIMIT_NOFILE: 1024,
    resource.RLIMIT_CORE: 0,
}
"""Of each process."""
_MORE_PROCESSES = 512
"""Per core, at least ``_CORES``: processes and threads beyond those that the user has when the program starts. The
kernel counts all of the user, those of programs at other seats too."""
_CORES = 8
_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36
_DROP_CAPABILITY = 24
_FILE_CAPABILITIES = range(5)
"""CAP_CHOWN to CAP_FSETID."""
_NUM_CAPABILITIES = 64
_NOT_FOUND = 127
_libc = ctypes.CDLL(None)


def main() -> None:
    """Run the program of the command line."""
    parent, is_sandboxed, words = int(sys.argv[1]), sys.argv[2] == "1", sys.argv[3:]
    watched = {signal.SIGTERM, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    _libc.prctl(_SET_CHILD_SUBREAPER, 1)
    _libc.prctl(_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it died before the kernel could know
        return
    if os.fork() == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, watched)
        _become(words, is_sandboxed=is_sandboxed)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):  # else nobody would see that the program has closed its output
        os.dup2(null, descriptor)
    with suppress(ChildProcessError):  # there is none any more
        while signal.sigwait(watched) == signal.SIGCHLD:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        while True:
            children = _children()
            for child in children:
                os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0 if children else os.WNOHANG)  # one may have become a child since


def _children() -> list[int]:
    """Return the processes whose parent is this one."""
    own, found = str(os.getpid()), []
    for name in os.listdir("/proc"):
        with suppress(OSError, ValueError):  # it has ended, or is not a process
            child = int(name)
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as stat:
                if stat.read().rpartition(")")[2].split()[1] == own:
                    found.append(child)
    return found


def _become(words: list[str], *, is_sandboxed: bool) -> NoReturn:
    """Become the program, with its limits."""
    try:
        _libc.prctl(_SET_PDEATHSIG, signal.SIGKILL)  # should this launcher be killed
        for limit, value in {**_LIMITS, resource.RLIMIT_NPROC: _most_processes()}.items():
            hard = resource.getrlimit(limit)[1]
            most = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(limit, (most, most))
        if not is_sandboxed:
            _drop_capabilities()
        os.execvp(words[0], words)
    except OSError as error:
        sys.stderr.write(f"{words[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(_NOT_FOUND)


def _most_processes() -> int:
    count = 0
    for name in os.listdir("/proc"):
        with suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == os.getuid():
                count += len(os.listdir(f"/proc/{name}/task"))
    return count + _MORE_PROCESSES * max(_CORES, os.cpu_count() or 1)


def _drop_capabilities() -> None:
    """Keep of root's capabilities those for files only: it must not trace other processes. Others have none."""
    for capability in range(len(_FILE_CAPABILITIES), _NUM_CAPABILITIES):
        _libc.prctl(_DROP_CAPABILITY, capability, 0, 0, 0)


if __name__ == "__main__":
    main()
