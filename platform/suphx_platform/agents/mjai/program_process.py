"""Starts an outside program with as few rights as possible, and ends it with all processes that it has started.

It gets a few environment variables (no credentials), a process group of its own and limits of memory, open files and
file sizes. Where bubblewrap (``bwrap``) is installed and may create namespaces, it also has no network, a read-only
file system but for a folder for temporary files, and no view of other processes, the usual folders of credentials and
those of sockets, over which other programs of the user accept commands (systemd, Docker, ssh-agent, tmux, Ray);
not with ``SUPHX_BUBBLEWRAP=0``.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

_VARIABLES = (
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "VIRTUAL_ENV", "LD_LIBRARY_PATH",
    "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS",
)  # fmt: skip
_CREDENTIALS = (".aws", ".azure", ".config", ".docker", ".gnupg", ".kube", ".mlflow", ".ssh")
"""Folders below the home folder that are empty for a program in bubblewrap."""
_SOCKETS = ("run", "var/run", "tmp/.X11-unix", "tmp/ray", "tmp/ssh-*", "tmp/tmux-*")
"""Folders of sockets, which are empty for it too: neither a read-only file system nor a missing network closes them."""
_LIMITS = {"d": 8 << 20, "f": 2 << 20, "n": 1024, "c": 0}
"""Options of ulimit: memory of a process (8 GiB, in KiB), its files (1 GiB, in blocks of 512 bytes), open files, core.

Memory is that of private writable pages (``-d``), so that nets which only reserve addresses can be loaded.
"""
_NIX_SYSTEM = "/run/current-system"
"""The programs of NixOS."""
_SCRATCH = "/dev/shm"
_SCRATCH_SIZE = 1 << 30
SWITCH = "SUPHX_BUBBLEWRAP"
"""The environment variable that turns bubblewrap off: 0."""
_PROBE_SECONDS = 10.0


def start_process(words: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a program with pipes to its standard input, output and error; OSError if there is no shell."""
    limits = "; ".join(f"ulimit -{option} {limit} 2>/dev/null" for option, limit in _LIMITS.items())
    return subprocess.Popen(
        [*(sandbox() or _ending_with_parent()), "/bin/sh", "-c", f'{limits}; exec "$@"', "sh", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env={name: os.environ[name] for name in _VARIABLES if name in os.environ},
        start_new_session=True,
    )


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Kill a program with its whole process group, and close its pipes."""
    if process.returncode is None:  # else its number may be that of another process by now
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def sandbox() -> tuple[str, ...]:
    """Return the words before a command that put it into bubblewrap; none where that does not work or is off."""
    program = shutil.which("bwrap")
    return () if program is None or os.environ.get(SWITCH) == "0" else _bubblewrap(program)


def _ending_with_parent() -> tuple[str, ...]:
    """Return the words before a command that have the kernel kill it with the process that started it.

    That process may be killed, or end without ending its programs. bubblewrap does the same (``--die-with-parent``).
    """
    program = shutil.which("setpriv")
    return () if program is None else (program, "--pdeathsig", "KILL", "--")


def _is_own_folder(folder: Path) -> bool:
    """Tell whether it is a folder and no link to one (``/var/run``)."""
    return folder.is_dir() and not folder.is_symlink()


@cache
def _bubblewrap(program: str) -> tuple[str, ...]:
    """Return the words, or none where ``program`` may not create namespaces."""
    hidden = [folder for name in _CREDENTIALS if (folder := Path.home() / name).is_dir()]
    hidden += [folder for name in _SOCKETS for folder in Path("/").glob(name) if _is_own_folder(folder)]
    words = (
        *(program, "--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc"),
        *(word for folder in hidden for word in ("--tmpfs", str(folder))),
        *("--ro-bind-try", _NIX_SYSTEM, _NIX_SYSTEM),
        *("--size", str(_SCRATCH_SIZE), "--tmpfs", _SCRATCH, "--setenv", "TMPDIR", _SCRATCH),
        *("--unshare-pid", "--unshare-ipc", "--unshare-net", "--die-with-parent", "--"),
    )
    try:
        works = subprocess.run([*words, "/bin/true"], capture_output=True, timeout=_PROBE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return words if works.returncode == 0 else ()
