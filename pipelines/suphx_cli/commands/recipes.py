"""``suphx recipes``: the shipped recipes, what they do, what they need and how long they take."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from suphx_cli.arguments.parsing import examples

if TYPE_CHECKING:
    from suphx_cli.arguments.parsing import Subparsers
    from suphx_platform.console.console import Console

_MINUTES_PER_HOUR = 60


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``recipes``."""
    parser = commands.add_parser(
        "recipes",
        parents=[options],
        help="list the shipped recipes",
        description="List the shipped recipes: what each does, whether it is meant for game records (--records DIR), "
        "and about how long it takes on two cores.",
        epilog=examples("suphx recipes", "suphx run laptop", "suphx run paper/rl_1 --records DIR"),
    )
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    """Print a table; scripts get the list."""
    from suphx_pipelines.recipe.recipe_kind import shipped_summaries

    summaries = shipped_summaries()
    if console.is_json:
        return {"recipes": [summary.to_json() for summary in summaries]}
    from suphx_platform.console.table_text import wrapped_table

    rows = [
        (each.name, "yes" if each.needs_records else "no", duration(each.minutes), each.about) for each in summaries
    ]
    for line in wrapped_table(("recipe", "for records", "time", "what it does"), rows):
        console.line(line)
    return None


def duration(minutes: int) -> str:
    """Return "5 min", "3 h", or "not measured" for 0."""
    if not minutes:
        return "not measured"
    return f"{minutes} min" if minutes < 2 * _MINUTES_PER_HOUR else f"{round(minutes / _MINUTES_PER_HOUR, 1):g} h"
