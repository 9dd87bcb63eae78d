"""Completion in a shell: ``suphx --install-completion``, and what the shell offers when somebody presses Tab.

argcomplete finds commands and options, this module the values. The kind of a value is its metavar in the help:
``RECIPE`` is the name of a recipe or a TOML file, ``AGENT`` a scripted agent or a folder of nets, and so on. Values
without a kind, such as numbers, get no suggestion.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from suphx.atomic_file import write_atomically
from suphx_cli.arguments import DEFAULT_RUNS

Completer = Callable[..., Any]


def answer_shell(parser: argparse.ArgumentParser) -> None:
    """Print what may follow the words that the shell gives in the environment, and end the process."""
    from argcomplete import autocomplete
    from argcomplete.completers import DirectoriesCompleter, FilesCompleter

    folder, file = DirectoriesCompleter(), FilesCompleter()
    completers: dict[str, Completer] = {
        "RECIPE": recipes,
        "KEY=VALUE": recipe_keys,
        "RUN": runs,
        "RUN_ID": runs,
        "AGENT": agents,
        **dict.fromkeys(("DIR", "FOLDER"), folder),
        **dict.fromkeys(("FILE", "RECORD", "PATH", "IN", "OUT"), file),
    }
    for action in _actions(parser):
        if action.nargs != 0 and action.choices is None:
            action.completer = completers.get(str(action.metavar), nothing)  # type: ignore[attr-defined]
    autocomplete(parser, always_complete_options=False, validator=_starts_with)


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from _actions(child)
        else:
            yield action


def _starts_with(text: str, prefix: str) -> bool:
    return text.startswith(prefix)


def nothing(**_: object) -> tuple[str, ...]:
    """Return no suggestion."""
    return ()


def recipes(prefix: str, **_: object) -> list[str]:
    """Return the names of the shipped recipes, and TOML files."""
    from argcomplete.completers import FilesCompleter

    from suphx_pipelines.recipe.recipe_file import shipped_recipes

    return [*shipped_recipes(), *FilesCompleter(["toml"])(prefix)]


def recipe_keys(parsed_args: argparse.Namespace, **_: object) -> list[str]:
    """Return ``key=`` for each key of the recipe that is named, or of any recipe of the command."""
    from suphx_cli.commands import tournament
    from suphx_pipelines.recipe.recipe_file import flatten, read_table, to_table
    from suphx_pipelines.recipe.recipe_kind import Command, command_of, recipe_class

    is_tournament = getattr(parsed_args.execute, "__module__", "") == tournament.__name__
    command: Command = "tournament" if is_tournament else "run"
    table = {}
    with suppress(ValueError, OSError):  # it is not named yet, or is none
        if parsed_args.recipe:
            table = read_table(parsed_args.recipe)
            command = command_of(table)  # `suphx launch` starts both
    config = recipe_class(command, table)(name="any")
    return [f"{key}=" for key in flatten(to_table(config))]


def runs(parsed_args: argparse.Namespace, **_: object) -> list[str]:
    """Return the ids of the runs in the folder of ``--runs``."""
    from suphx_pipelines.runs.run_list import run_ids

    return run_ids(_folder_of_runs(parsed_args))


def agents(prefix: str, parsed_args: argparse.Namespace, **_: object) -> list[str]:
    """Return the scripted agents, the stages of runs that have all nets, and folders."""
    from argcomplete.completers import DirectoriesCompleter

    from suphx.games.registry import agent_names
    from suphx_platform.agents.agent_source import checkpoints_of_runs

    found = [each.address for each in checkpoints_of_runs(_folder_of_runs(parsed_args))]
    return [*agent_names(), *found, *DirectoriesCompleter()(prefix)]


def _folder_of_runs(parsed_args: argparse.Namespace) -> Path:
    return getattr(parsed_args, "runs", None) or DEFAULT_RUNS


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
