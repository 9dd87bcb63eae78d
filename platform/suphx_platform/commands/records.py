"""``suphx records verify | statistics | convert``: game records against the rules, in numbers, in another form."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from suphx_platform.commands.parsing import add_workers, positive

if TYPE_CHECKING:
    from suphx_platform.commands.parsing import Subparsers
    from suphx_platform.console import Console

PATH_HELP = "a record file or a folder of them"


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``records`` with its three sub-commands."""
    parser = commands.add_parser("records", help="verify, count or convert game records")
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    verify = verbs.add_parser("verify", parents=[options], help="replay records through the rules, count differences")
    verify.add_argument("paths", nargs="+", type=Path, metavar="PATH", help=PATH_HELP)
    verify.add_argument("--limit", type=positive, metavar="N", help="stop after N games")
    add_workers(verify)
    verify.set_defaults(execute=execute_verify)

    statistics = verbs.add_parser("statistics", parents=[options], help="the figures of one player (paper, Table 5)")
    statistics.add_argument("path", type=Path, metavar="PATH", help=PATH_HELP)
    statistics.add_argument("--player", required=True, metavar="NAME", help="the player's name as the records have it")
    add_workers(statistics)
    statistics.set_defaults(execute=execute_statistics)

    convert = verbs.add_parser("convert", parents=[options], help="write records in another form")
    convert.add_argument("source", type=Path, metavar="IN", help=PATH_HELP)
    convert.add_argument("target", type=Path, metavar="OUT", help="a folder, or a file that ends in .tsv or .tsv.xz")
    convert.add_argument("--to", required=True, choices=("mjlog", "mjai"), help="the form to write")
    add_workers(convert)
    convert.set_defaults(execute=execute_convert)


def execute_verify(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Replay every record and report the differences; ValueError for a missing or an empty path."""
    from suphx.riichi.verify import verify_records

    with console.progress("games", args.limit) as progress:
        report = verify_records(args.paths, limit=args.limit, workers=args.workers, progress=progress.advance)
    return report.to_json()


def execute_statistics(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Count one player's figures over all games; ValueError if no game has the player."""
    from suphx.evaluation.player_statistics import player_statistics
    from suphx.riichi.archive import Quarantine, parse_all

    quarantine = Quarantine()
    with console.progress("games") as progress:
        logs = progress.count(parse_all([args.path], args.workers, quarantine=quarantine))
        statistics = player_statistics(logs, args.player)
    if quarantine.count:
        console.say(f"{quarantine.count:,} records were set aside: see suphx records verify {args.path}")
    return statistics.to_json()


def execute_convert(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Write every readable record in another form; ValueError if records would be read from where they are written."""
    from suphx.riichi.archive import Quarantine, parse_all
    from suphx_platform.record_writer import write_records

    if args.source.resolve() == args.target.resolve():
        raise ValueError(f"{args.target} is also where the records come from: name another place to write to")
    quarantine = Quarantine()
    with console.progress("games") as progress:
        logs = progress.count(parse_all([args.source], args.workers, quarantine=quarantine))
        written = write_records(logs, args.target, args.to, quarantine=quarantine)
    return {"games": written + quarantine.count, "written": written, "quarantined": quarantine.count}
