"""``suphx records verify | statistics | convert``, and what all commands say of records that were set aside."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suphx.games.game import CountGames
from suphx.games.quarantine import Quarantine
from suphx.games.registry import GAMES, find_game, game_of_records, load_game
from suphx_cli.arguments import (
    UsageError,
    add_command,
    add_group,
    check_output_file,
    check_output_folder,
    check_records,
)
from suphx_platform.console.table_text import count_text, result_lines, text_table

if TYPE_CHECKING:
    from suphx.games.game import RecordTools
    from suphx_cli.arguments import Subparsers
    from suphx_platform.console.console import Console

_MAX_SHOWN = 10
_GAME = "--game      the game (default: recognized by the content of the records)"
_VERIFY = f"""
verify: replay records with the rules engine and count the differences

Replay records with the rules engine. Exit code 0: no difference; records that cannot be read are set aside and counted.
Exit code 1: there are differences, or no record could be read.

PATH…      a record file or a folder of records
{_GAME}
--workers
"""
_STATISTICS = f"""
statistics: show the results and rates of one player

PATH           a record file or a folder of records
--player NAME  name of the player, as written in the records
{_GAME}
--luck         also show placement and points without the luck of dealt hands and draws (docs/evaluation.md), learned
               from all games in PATH, 40 or more; only of riichi
--workers
"""
_CONVERT = f"""
convert: convert records to another form

Convert records of riichi to mjlog, mjai or tenhou6 (JSON of tenhou.net/6), records of other games to the forms that
these have. Exit code 1: no record could be converted.

IN           a record file or a folder of records
OUT          of riichi a folder, for one file per game; or a file: .mjson, .mjai or .jsonl (mjai), .json or .tenhou6
             (tenhou6), .tsv (a table of mjlog), .mjlog or .xml (one game); each but .mjlog may end in .gz or .xz. Of
             other games a file of all games: .jsonl (json), .txt (text), and of mcr .json (botzone)
--to FORM    the form to write; from OUT if that is a file
{_GAME}
--list FILE  write a list of the records that were not converted to FILE
--workers
"""


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``records`` with its three sub-commands."""
    verbs = add_group(commands, "records: verify, summarize or convert game records")
    game = {"choices": GAMES}
    add_command(verbs, options, _VERIFY, execute_verify, path={"dest": "paths"}, game=game)
    add_command(verbs, options, _STATISTICS, execute_statistics, player={"required": True}, game=game)
    places = {"in": {"dest": "source"}, "out": {"dest": "target"}}
    add_command(verbs, options, _CONVERT, execute_convert, to={}, game=game, **places)


def _game_with_tools(args: argparse.Namespace, path: Path) -> tuple[Any, RecordTools]:
    """Return the game of records, and what can be done with them; ValueError if that is nothing."""
    game = load_game(args.game or game_of_records(path))
    if game.record_tools is None:
        raise ValueError(f"records of {find_game(game.name).title} are shown by suphx view only")
    return game, game.record_tools


def execute_verify(args: argparse.Namespace, console: Console) -> None:
    """Replay every record; ValueError for a missing path, for differences, and if nothing could be read."""
    for path in args.paths:
        check_records(path, "PATH")
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    _, tools = _game_with_tools(args, args.paths[0])
    if tools.kernel_groups and tools.has_games(args.paths, set_aside=tools.new_set_aside()):
        compile_kernels(console, *tools.kernel_groups)

    with _reading(console) as seen:
        report = tools.verify(args.paths, workers=args.workers, seen=seen)
    values = {"games": report.games, **report.counts, "differences": report.differences}
    times = {"seconds": round(report.seconds, 1)}
    _show(console, {**values, **times, **report.values}, {**values, **report.rows, **times}, report.set_aside)
    for line in report.first if not console.is_json else ():
        console.line(f"  {line}")
    if not report.games:
        raise ValueError(nothing_read(report.set_aside))
    if report.differences:
        raise ValueError(
            f"{count_text(report.differences, 'difference')} in {count_text(report.games, 'game')}: "
            "a record is damaged, or its rules differ from docs/rules.md"
        )


def execute_statistics(args: argparse.Namespace, console: Console) -> None:
    """Count one player's figures over all games; ValueError for a missing path or if no game has the player."""
    check_records(args.path, "PATH")
    from suphx.evaluation.draw_luck import DrawLuck
    from suphx.evaluation.match_config import MIN_CLUSTERS
    from suphx.evaluation.player_statistics import player_statistics

    game, tools = _game_with_tools(args, args.path)
    if args.luck and not tools.has_luck:
        raise UsageError(f"--luck has no meaning for {game.name}: omit it")
    check_games([args.path], tools)
    set_aside = tools.new_set_aside()
    luck = DrawLuck() if args.luck else None
    with _reading(console) as seen:
        logs = tools.read([args.path], workers=args.workers, set_aside=set_aside, seen=seen)
        found = player_statistics(logs if luck is None else luck.collect(logs), args.player, game=game)
    figures = found.to_json()
    if luck is not None:
        figures["without_luck"] = {name: mean.to_json() for name, mean in luck.of_player(args.player).items()}
    counted = {*game.scoring.counters, *game.scoring.ratios}
    unknown = {name for name in (*found.intervals, "kyoku") if name not in counted}  # a game counts what it has
    shown = {name: value for name, value in figures.items() if name not in unknown}
    shown["intervals"] = {name: each.to_json() for name, each in found.intervals.items() if name not in unknown}
    _show(console, {**figures, **set_aside.to_json()}, {"player": args.player, **shown}, set_aside)
    if 1 < found.games < MIN_CLUSTERS:
        console.warn(f"over {found.games} games the intervals mean little: give records of at least {MIN_CLUSTERS}")


def execute_convert(args: argparse.Namespace, console: Console) -> None:
    """Convert every readable record; ValueError if IN is missing or is OUT, or if nothing could be written.

    Also if neither the name of OUT nor ``--to`` tells the format, or they disagree, and for a list that would replace a
    record or cannot be written, before any record is converted.
    """
    check_records(args.source, "IN")
    _, tools = _game_with_tools(args, args.source)
    forms, form, target = tools.file_forms(args.target), args.to, args.target
    names = ", ".join(tools.forms[:-1]) + f" or {tools.forms[-1]}"
    if form is not None and form not in tools.forms:
        raise ValueError(f"--to is {form!r}: use {names}")
    if not forms:
        tools.check_target(target)
    if form is None and not forms:
        raise ValueError(f"{target} is a folder, or a name without a known ending: add --to {names}")
    if form is not None and forms and form not in forms:
        raise ValueError(
            f"{args.target.name} is the name of a file of {' or '.join(forms)}, not {form}: choose another OUT or --to"
        )
    form = form or forms[0]
    target = args.target.resolve()
    is_source = target == args.source.resolve()
    sources = set() if is_source else {file.resolve() for file in tools.files(args.source)}
    if is_source or target in sources:
        raise ValueError(f"{args.target} is also the source of the records: choose another OUT")
    check_output_folder(args.target.parent if forms else args.target, "OUT")
    if args.list is not None:
        check_output_file(args.list, sources, "--list")
        if target in (args.list.resolve(), *args.list.resolve().parents):
            raise ValueError(f"--list is {args.list}, which is OUT, or in that folder: name another file")
    if kernels := tools.kernels_to_write(args.source, form):
        from suphx_platform.kernels.kernel_warmup import compile_kernels

        compile_kernels(console, *kernels)
    set_aside = tools.new_set_aside()
    with _reading(console) as seen:
        records = tools.read([args.source], workers=args.workers, set_aside=set_aside, seen=seen)
        written = tools.write(records, args.target, form, set_aside=set_aside, kept=sources)
    if args.list is not None:
        set_aside.write(args.list)
    counts = {"games": written + set_aside.count, "written": written}
    rows = {**counts, "to": str(args.target)}
    _show(console, {**counts, **set_aside.to_json()}, rows, set_aside, written_to=args.list)
    if not written:
        raise ValueError(f"nothing was written to {args.target}: {nothing_read(set_aside)}")


@contextmanager
def _reading(console: Console) -> Iterator[CountGames]:
    """Show how far the files are read; yield what is told of it."""
    games = 0
    with console.progress("%", 100.0, note="reading the first records") as progress:

        def seen(share: float, number: int) -> None:
            nonlocal games
            games += number
            progress.reach(100 * share, count_text(games, "game"))

        yield seen


def _show(
    console: Console,
    values: Mapping[str, object],
    rows: Mapping[str, object],
    set_aside: Quarantine,
    written_to: Path | None = None,
) -> None:
    """Print ``values`` as JSON, or for a person ``rows`` and tables of what was set aside.

    ``written_to``: the file that has the complete list of it.
    """
    if console.is_json:
        console.result(values)
        return
    lines = result_lines(rows)
    if set_aside.count:
        remedies = {entry.kind: entry.remedy for entry in set_aside.entries}
        table = [[why, f"{number:,}", remedies.get(why, "")] for why, number in set_aside.by_reason.items()]
        lines += ["", f"{count_text(set_aside.count, 'record was', 'records were')} set aside:"]
        lines += [f"  {line}" for line in text_table(("reason", "records", "what to do"), table)]
        is_long = set_aside.count > _MAX_SHOWN
        shown = {entry.kind if is_long else entry: entry for entry in reversed(set_aside.entries)}
        lines += ["", "The first of each reason:" if is_long else "They are:"]
        lines += [f"  {entry.place}: {entry.reason}" for entry in reversed(shown.values())]
        if written_to is not None:
            lines.append(f"All are listed in {written_to}")
    for line in lines:
        console.line(line)


def check_games(paths: Sequence[Path], tools: RecordTools) -> None:
    """Raise ValueError if none of the records can be parsed."""
    set_aside = tools.new_set_aside()
    if not tools.has_games(paths, set_aside=set_aside):
        raise ValueError(nothing_read(set_aside))


def nothing_read(set_aside: Quarantine) -> str:
    """Return why no record could be used."""
    if not set_aside.entries:
        return "there is no record: the files are empty, or those of another game"
    return f"none of {set_aside.count:,} records can be used; the first: {set_aside.entries[0]}"
