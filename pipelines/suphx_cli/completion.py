"""What a shell offers when somebody presses Tab, once it knows ``register-python-argcomplete suphx``.

argcomplete finds commands and options, this module the values. The kind of a value is its metavar in the help:
``RECIPE`` is the name of a recipe or a TOML file, ``AGENT`` a scripted agent or a folder of nets, and so on. Values
without a kind, such as numbers, get no suggestion.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from suphx_cli.arguments import DEFAULT_RUNS

Completer = Callable[..., Any]


def answer_shell(parser: argparse.ArgumentParser) -> None:
    """Print what may follow the words that the shell gives in the environment, and end the process."""
    from argcomplete import autocomplete
    from argcomplete.completers import ChoicesCompleter, DirectoriesCompleter, FilesCompleter

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
            action.completer = completers.get(str(action.metavar), ChoicesCompleter({}))  # type: ignore[attr-defined]
    autocomplete(parser, always_complete_options=False, validator=str.startswith)


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from _actions(child)
        else:
            yield action


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

    from suphx.games.registry import DEFAULT_GAME, agent_names
    from suphx_platform.agents.agent_source import checkpoints_of_runs

    found = [each.address for each in checkpoints_of_runs(_folder_of_runs(parsed_args), DEFAULT_GAME)]
    return [*agent_names(DEFAULT_GAME), *found, *DirectoriesCompleter()(prefix)]


def _folder_of_runs(parsed_args: argparse.Namespace) -> Path:
    return getattr(parsed_args, "runs", None) or DEFAULT_RUNS
