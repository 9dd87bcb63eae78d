"""``suphx --install-completion``: writes the script with which a shell completes ``suphx``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from suphx.atomic_file import write_atomically

SHELLS = ("bash", "zsh", "fish")


def script_path(shell: str, environment: Mapping[str, str]) -> Path:
    """Return the file in which ``shell`` looks for the completion of ``suphx``; each shell has its own folder."""
    home = Path(environment.get("HOME") or Path.home())
    if shell == "bash":
        return _folder(environment, "XDG_DATA_HOME", home / ".local/share") / "bash-completion/completions/suphx"
    if shell == "fish":
        return _folder(environment, "XDG_CONFIG_HOME", home / ".config") / "fish/completions/suphx.fish"
    return home / ".zfunc/_suphx"


def _folder(environment: Mapping[str, str], name: str, default: Path) -> Path:
    value = environment.get(name, "")
    return Path(value) if Path(value).is_absolute() else default  # the XDG standard: relative values are ignored


def how_to_load(shell: str, path: Path) -> str:
    """Return what else is needed before ``shell`` finds the script."""
    if shell == "bash":
        return f"open a new shell; without the package bash-completion, add `source {path}` to ~/.bashrc"
    if shell == "fish":
        return "open a new shell"
    return "add `fpath+=~/.zfunc; autoload -Uz compinit; compinit` to ~/.zshrc and open a new shell"


def shell_of(environment: Mapping[str, str]) -> str:
    """Return the user's shell; ValueError if it has no completion here."""
    name = Path(environment.get("SHELL", "")).name
    if name not in SHELLS:
        raise ValueError(f"$SHELL is {name!r}: name one of {', '.join(SHELLS)}, as in --install-completion bash")
    return name


class InstallCompletion(argparse.Action):
    """Writes the script of the named shell, by default of ``$SHELL``, and ends the command."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: object, values: object, *_: object) -> NoReturn:
        """Write the script for the shell ``values``."""
        from argcomplete.shell_integration import shellcode

        try:
            shell = str(values) if values else shell_of(os.environ)
        except ValueError as error:
            parser.error(str(error))
        path = script_path(shell, os.environ)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, [shellcode(["suphx"], shell=shell).encode()])
        except OSError as error:
            parser.exit(1, f"suphx: cannot write {path}: {error.strerror}; make the folder writable\n")
        print(f"{path}: {how_to_load(shell, path)}")
        parser.exit()
