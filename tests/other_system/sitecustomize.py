"""Lets the modules of this project see another system than Linux: macos or windows, as ``SUPHX_SYSTEM`` says.

Python imports this file at the start of every process whose PYTHONPATH names its folder, workers included. What the
other system lacks is missing for modules of this project only: libraries have their own code for it, which cannot run
here. It is an imitation: the rest of the system is Linux.
"""

from __future__ import annotations

import builtins
import ctypes
import multiprocessing
import os
import struct
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

OURS = ("suphx", "suphx_platform", "suphx_pipelines", "suphx_cli")
LINUX_PLACES = ("/proc/", "/sys/", "/dev/shm")
PASS_ON = ("pathlib", "io", "os", "shutil", "tempfile")
"""Modules that open a file for their caller."""
LINUX_ONLY = {
    "os": {"sched_getaffinity", "sched_setaffinity", "pidfd_open", "memfd_create", "O_PATH", "O_TMPFILE", "getrandom"},
    "select": {"epoll"},
    "signal": {"sigtimedwait", "sigwaitinfo", "SIGRTMIN", "SIGPOLL", "SIGPWR"},
}
POSIX_ONLY = {
    "os": {
        *("fork", "forkpty", "register_at_fork", "killpg", "setsid", "getpgid", "getuid", "geteuid", "getgid", "uname"),
        *("sysconf", "nice", "getloadavg", "statvfs", "mkfifo", "chown", "set_blocking", "sync", "pread", "pwrite"),
        *("WNOHANG", "WIFSIGNALED", "O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "posix_fallocate"),
    },
    "select": {"poll"},
    "signal": {
        *("SIGHUP", "SIGKILL", "SIGCHLD", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGPIPE", "SIGQUIT", "SIGSTOP", "SIGCONT"),
        *("pthread_kill", "pthread_sigmask", "sigwait", "alarm", "setitimer", "SIG_BLOCK", "SIG_UNBLOCK"),
    },
    "socket": {"AF_UNIX", "socketpair"},
    "multiprocessing.context": {"ForkProcess", "ForkContext", "ForkServerContext"},
    "time": {"clock_gettime", "tzset"},
}
POSIX_MODULES = {"fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "readline", "posix"}


class PartOfModule(ModuleType):
    """A module of which some names are missing or have other values; what is set is set in the module itself."""

    def __init__(self, module: ModuleType, missing: set[str], changed: Mapping[str, object]) -> None:
        super().__init__(module.__name__)
        vars(self).update(_module=module, _missing=missing, **changed)

    def __getattr__(self, name: str) -> Any:
        if name in vars(self)["_missing"]:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(vars(self)["_module"], name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(vars(self)["_module"], name, value)


def is_ours(frame_globals: Mapping[str, Any] | None) -> bool:
    """Tell whether a module with these globals belongs to this project, also if it is run as ``__main__``."""
    names = frame_globals or {}
    name = getattr(names.get("__spec__"), "name", None) or names.get("__name__") or ""
    return str(name).partition(".")[0] in OURS


def imitate(system: str) -> None:
    """Let modules of this project that are imported from now on see ``system``."""
    is_windows = system == "windows"
    missing = {name: LINUX_ONLY.get(name, set()) | (POSIX_ONLY.get(name, set()) if is_windows else set()) for name in
               {*LINUX_ONLY, *POSIX_ONLY}}  # fmt: skip
    changed: dict[str, dict[str, object]] = {
        "sys": {"platform": "win32" if is_windows else "darwin"},
        "os": {"name": "nt"} if is_windows else {},
        "multiprocessing": {"get_context": spawn_only},
        "ctypes": {"CDLL": windows_library if is_windows else mac_library},
    }
    if not is_windows:
        changed["fcntl"] = {"fcntl": mac_fcntl}
    gone = POSIX_MODULES if is_windows else set[str]()
    parts: dict[str, PartOfModule] = {}
    import_as_ever = builtins.__import__

    def import_part(
        name: str,
        globals: Any = None,
        locals: Any = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> Any:
        if not is_ours(globals):
            return import_as_ever(name, globals, locals, fromlist, level)
        if name in gone:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        module = import_as_ever(name, globals, locals, fromlist, level)
        key = module.__name__
        if key in missing or key in changed:
            if key not in parts:
                parts[key] = PartOfModule(module, missing.get(key, set()), changed.get(key, {}))
            return parts[key]
        return module

    builtins.__import__ = import_part
    sys.addaudithook(refuse_places_of_linux)
    if is_windows:
        sys.addaudithook(refuse_open_files)


def refuse_places_of_linux(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise FileNotFoundError where a module of this project opens or lists what only Linux has."""
    if event not in ("open", "os.listdir", "os.scandir"):
        return
    path = os.fsdecode(arguments[0]) if isinstance(arguments[0], str | bytes) else ""
    if not path.startswith(LINUX_PLACES):
        return
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] in PASS_ON:
        frame = frame.f_back
    if is_ours(frame.f_globals):
        raise FileNotFoundError(2, "No such file or directory", path)


def refuse_open_files(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise PermissionError if a file that this process has open, or mapped, is removed, moved or replaced."""
    if event not in ("os.remove", "os.rename"):
        return
    opened = {int(link.name): link for link in Path("/proc/self/fd").iterdir()}
    used = {line.split(maxsplit=5)[-1] for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()}
    folders = [folder for folder in arguments if isinstance(folder, int)]
    paths = set()
    for path, folder in zip(arguments, folders, strict=False):
        paths.add(os.path.realpath(Path(os.path.realpath(opened[folder])) / path if folder >= 0 else path))
    for link in opened.values():
        with suppress(OSError):  # the descriptor with which they were listed
            used.add(str(link.readlink()))
    if paths & used:
        raise PermissionError(13, "The process cannot access the file because it is being used", *paths & used)


def spawn_only(method: str | None = None) -> Any:
    """Return the context of ``spawn``: a fork is refused."""
    if method not in (None, "spawn"):
        raise ValueError(f"cannot find context for {method!r}")
    return multiprocessing.get_context("spawn")


def windows_library(name: str | None, **options: Any) -> Any:
    """Load a library; Windows cannot load the program itself."""
    if name is None:
        raise TypeError("expected str, bytes or os.PathLike object, not NoneType")
    return ctypes.CDLL(name, **options)


def mac_library(name: str | None, **options: Any) -> Any:
    """Load a library; the program itself has none of the functions that only Linux has."""
    return ctypes.CDLL(name, **options) if name is not None else SimpleNamespace()


MAC_FLOCK = "qqihh"
"""struct flock of macOS (sys/fcntl.h): l_start, l_len, l_pid, l_type, l_whence."""
LINUX_FLOCK = "hhqqi4x"


def mac_fcntl(file: Any, command: int, argument: Any = 0) -> Any:
    """Ask about a lock with the structure of macOS."""
    import fcntl

    if command != fcntl.F_GETLK:
        return fcntl.fcntl(file, command, argument)
    start, length, process, kind, whence = struct.unpack(MAC_FLOCK, argument)
    asked = struct.pack(LINUX_FLOCK, kind, whence, start, length, process)
    kind, whence, start, length, process = struct.unpack(LINUX_FLOCK, fcntl.fcntl(file, command, asked))
    return struct.pack(MAC_FLOCK, start, length, process, kind, whence)


if "SUPHX_SYSTEM" in os.environ:
    imitate(os.environ["SUPHX_SYSTEM"])
