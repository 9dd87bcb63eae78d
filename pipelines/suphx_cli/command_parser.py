"""The parser of the command line: its commands in groups, and errors of one line with "did you mean"."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from suphx.suggestion import did_you_mean
from suphx_cli.arguments import EXAMPLES_TITLE

GROUPS = (
    ("learn", ("run", "sweep", "recipes", "runs", "ui")),
    ("evaluate", ("agents", "evaluate", "tournament", "adapt")),
    ("play and records", ("play", "mjai", "bot", "records", "view", "review")),
    ("cluster", ("launch", "jobs", "status", "logs", "stop", "resume", "delete")),
    ("measure", ("bench", "warmup")),
)


_EXAMPLES = f"""{EXAMPLES_TITLE}\
  suphx run laptop
  suphx recipes
  suphx evaluate --candidate runs/RUN/supervised --opponent ukeire"""
MODULES = (
    *("run", "runs", "ui", "play", "mjai", "bot", "records", "view", "review", "agents", "evaluate"),
    *("tournament", "adapt", "bench", "cluster"),
)
"""Of suphx_cli.commands, in the order of docs/commands.md. Each has ``add_parser(commands, options)``, which adds its
parsers to those of ``commands``, with ``options`` as a parent of each."""


def command_modules() -> Sequence[Any]:
    """Return all modules of commands."""
    return [import_module(f"suphx_cli.commands.{name}") for name in MODULES]


def new_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    options = _shared_options()
    parser = _Parser(
        prog="suphx",
        description="Train, evaluate and inspect Suphx, a Riichi Mahjong agent.",
        epilog=_EXAMPLES,
        parents=[options],
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in command_modules():
        command.add_parser(commands, options)
    return parser


def _shared_options() -> argparse.ArgumentParser:
    """Return a parent of all parsers: its defaults are suppressed, so that an option may precede the command."""
    options = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    options.add_argument("--json", action="store_true", help="print one JSON object as the last line on stdout")
    for name, text in (("quiet", "print only warnings, errors and the result"), ("verbose", "print all details")):
        options.add_argument(f"-{name[0]}", f"--{name}", action="store_const", const=name, dest="verbosity", help=text)
    options.add_argument("--debug", action="store_true", help="print the traceback of an error")
    return options


class _Help(argparse.HelpFormatter):
    """Keeps the lines of examples; all other text is filled."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith(EXAMPLES_TITLE) else super()._fill_text(text, width, indent)


class _Version(argparse.Action):
    """Prints the version, which takes a while to look up."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print(f"suphx {version('suphx')}")
        parser.exit()


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, and that knows its commands by group."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"formatter_class": _Help, "allow_abbrev": False, **kwargs})

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse all of ``args``: what is unknown is an error of the parser that it was meant for."""
        commands = self._commands()
        if commands is not None:
            self._check_options_before_command(args or ())
        parsed, unknown = super().parse_known_args(args, namespace or argparse.Namespace())
        if unknown:
            self._refuse(unknown[0])
        return parsed, unknown

    def format_help(self) -> str:
        """Return the help; the commands of the whole command line are in groups."""
        commands = self._commands()
        if commands is None or self.prog != "suphx":
            return super().format_help()
        formatter = self._get_formatter()
        formatter.add_usage("suphx COMMAND …", [], [], prefix="usage: ")
        formatter.add_text(self.description)
        lines = {action.dest: action for action in commands._get_subactions()}
        for title, names in GROUPS:
            formatter.start_section(title)
            formatter.add_arguments(lines[name] for name in names if name in lines)
            formatter.end_section()
        formatter.start_section("options")
        formatter.add_arguments(action for action in self._actions if action is not commands)
        formatter.end_section()
        formatter.add_text(self.epilog)
        formatter.add_text("`suphx COMMAND --help` explains one command.")
        return formatter.format_help()

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        hint = did_you_mean(str(value), choices)
        what = "there is no command" if isinstance(action, argparse._SubParsersAction) else "invalid choice:"
        raise argparse.ArgumentError(
            None if action.dest is argparse.SUPPRESS or isinstance(action, argparse._SubParsersAction) else action,
            f"{what} {value!r}: {hint or 'use one of ' + ', '.join(choices)}".rstrip(),
        )

    def _commands(self) -> argparse._SubParsersAction[argparse.ArgumentParser] | None:
        return next((action for action in self._actions if isinstance(action, argparse._SubParsersAction)), None)

    def _check_options_before_command(self, args: Sequence[str]) -> None:
        """Refuse an unknown option before argparse asks for the command instead."""
        for text in args:
            if not text.startswith("-") or text == "--":
                return
            if text.partition("=")[0] not in self._option_string_actions:
                self._refuse(text)

    def _refuse(self, text: str) -> NoReturn:
        if not text.startswith("-"):
            self.error(f"unexpected argument {text!r}")
        name = text.partition("=")[0]
        self.error(f"unknown option {name}: {did_you_mean(name, self._option_string_actions)}".rstrip(": "))
