"""``suphx records verify | statistics | convert``, and what all commands say of records that were set aside."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from suphx.games.riichi.records.quarantine import MAX_SHOWN, RECORD_REMEDIES, Quarantine
from suphx.printable_text import printable
from suphx_cli.arguments import add_command, add_group, check_output_file, check_records
from suphx_platform.console.table_text import count_text, result_lines, text_table

if TYPE_CHECKING:
    from suphx.games.riichi.archive.record_stream import ReadShare
    from suphx.games.riichi.records.game_log import GameLog
    from suphx_cli.arguments import Subparsers
    from suphx_platform.console.console import Console

_VERIFY = """
verify: replay records with the rules engine and count the differences

Replay records with the rules engine. Exit code 0: no difference; records that cannot be read are set aside and counted.
Exit code 1: there are differences, or no record could be read.

PATH…      a record file or a folder of records
--workers
"""
_STATISTICS = """
statistics: show the results and rates of one player

PATH           a record file or a folder of records
--player NAME  name of the player, as written in the records
--luck         also show placement and points without the luck of dealt hands and draws (docs/evaluation.md), learned
               from all games in PATH, 40 or more
--workers
"""
_CONVERT = """
convert: convert records to mjlog, mjai or tenhou6

Convert records to mjlog, mjai or tenhou6 (JSON of tenhou.net/6). Exit code 1: no record could be converted.

IN           a record file or a folder of records
OUT          a folder, for one file per game; or a file: .mjson, .mjai or .jsonl (mjai), .json or .tenhou6 (tenhou6),
             .tsv (a table of mjlog), .mjlog or .xml (one game); each but .mjlog may end in .gz or .xz
--to         the format to write; from OUT if that is a file
--list FILE  write a list of the records that were not converted to FILE
--workers
"""


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``records`` with its three sub-commands."""
    verbs = add_group(commands, "records: verify, summarize or convert game records")
    add_command(verbs, options, _VERIFY, execute_verify, path={"dest": "paths"})
    add_command(verbs, options, _STATISTICS, execute_statistics, player={"required": True})
    places = {"in": {"dest": "source"}, "out": {"dest": "target"}}
    add_command(verbs, options, _CONVERT, execute_convert, to={"choices": ("mjlog", "mjai", "tenhou6")}, **places)


def execute_verify(args: argparse.Namespace, console: Console) -> None:
    """Replay every record; ValueError for a missing path, for differences, and if nothing could be read."""
    for path in args.paths:
        check_records(path, "PATH")
    from suphx.games.riichi.archive.archive import verify_records
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    if has_games(args.paths, Quarantine()):
        compile_kernels(console, "engine", "hands", "replay")

    with _reading(console) as (count, read):
        report = verify_records(args.paths, workers=args.workers, progress=count, read=read)
    rows = {
        "games": report.games,
        "kyoku": report.kyoku,
        "decisions": report.decisions,
        "differences": report.differences,
        "draws compared with the shuffle seed": report.draws_checked,
        "seconds": report.seconds,
        "draws that could not be compared": [
            {"reason": reason, "draws": number} for reason, number in report.draws_unchecked.most_common()
        ],
        "ignored, because no game needs it": [
            {"what": what, "times": number} for what, number in report.ignored.most_common()
        ],
    }
    _show(console, report.to_json(), rows, report.quarantine)
    for each in report.first_differences if not console.is_json else ():
        console.line(f"  {printable(each.id)}, deal {each.kyoku + 1}, step {each.step}: {each.what}")
    if not report.games:
        raise ValueError(nothing_read(report.quarantine))
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
    from suphx.games.riichi.archive.archive import iter_records

    check_games([args.path])
    quarantine = Quarantine()
    luck = DrawLuck() if args.luck else None
    with _reading(console) as (count, read):
        logs = _counted(iter_records([args.path], workers=args.workers, quarantine=quarantine, read=read), count)
        found = player_statistics(logs if luck is None else luck.collect(logs), args.player)
    figures = found.to_json()
    if luck is not None:
        figures["without_luck"] = {name: mean.to_json() for name, mean in luck.of_player(args.player).items()}
    _show(console, {**figures, **quarantine.to_json()}, {"player": args.player, **figures}, quarantine)
    if 1 < found.games < MIN_CLUSTERS:
        console.warn(f"over {found.games} games the intervals mean little: give records of at least {MIN_CLUSTERS}")


def execute_convert(args: argparse.Namespace, console: Console) -> None:
    """Convert every readable record; ValueError if IN is missing or is OUT, or if nothing could be written.

    Also if neither the name of OUT nor ``--to`` tells the format, or they disagree, and for a list that would replace a
    record or cannot be written, before any record is converted.
    """
    check_records(args.source, "IN")
    from suphx.games.riichi.archive.archive import iter_records
    from suphx.games.riichi.archive.raw_record import record_files
    from suphx.games.riichi.archive.record_writer import file_forms, write_records
    from suphx.games.riichi.records.replay import is_result_whole
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    forms, form = file_forms(args.target), args.to
    if form is None and not forms:
        target = args.target
        raise ValueError(f"{target} is a folder, or a name without a known ending: add --to mjlog, mjai or tenhou6")
    if form is not None and forms and form not in forms:
        raise ValueError(
            f"{args.target.name} is the name of a file of {' or '.join(forms)}, not {form}: choose another OUT or --to"
        )
    form = form or forms[0]
    target = args.target.resolve()
    is_source = target == args.source.resolve()
    sources = set() if is_source else {file.resolve() for file in record_files([args.source])}
    if is_source or target in sources:
        raise ValueError(f"{args.target} is also the source of the records: choose another OUT")
    if args.list is not None:
        check_output_file(args.list, sources, "--list")
        if target in (args.list.resolve(), *args.list.resolve().parents):
            raise ValueError(f"--list is {args.list}, which is OUT, or in that folder: name another file")
    if form != "mjai":
        first = next(iter_records([args.source], quarantine=Quarantine()), None)
        if first is not None and not all(map(is_result_whole, first.kyokus)):  # han, fu and yaku are computed
            compile_kernels(console, "engine", "hands", "replay")
    quarantine = Quarantine()
    with _reading(console) as (count, read):
        logs = _counted(iter_records([args.source], workers=args.workers, quarantine=quarantine, read=read), count)
        written = write_records(logs, args.target, form, quarantine=quarantine, kept=sources)
    if args.list is not None:
        quarantine.write(args.list)
    counts = {"games": written + quarantine.count, "written": written}
    rows = {**counts, "to": str(args.target)}
    _show(console, {**counts, **quarantine.to_json()}, rows, quarantine, written_to=args.list)
    if not written:
        raise ValueError(f"nothing was written to {args.target}: {nothing_read(quarantine)}")


@contextmanager
def _reading(console: Console) -> Iterator[tuple[Callable[[int], None], ReadShare]]:
    """Show how far the files are read; yield what counts games and bytes."""
    from suphx.games.riichi.archive.record_stream import ReadShare

    read, games = ReadShare(), 0
    with console.progress("%", 100.0, note="reading the first records") as progress:

        def count(number: int) -> None:
            nonlocal games
            games += number
            progress.reach(100 * read.share, count_text(games, "game"))

        yield count, read


def _counted(logs: Iterable[GameLog], count: Callable[[int], None]) -> Iterator[GameLog]:
    for log in logs:
        yield log
        count(1)


def _show(
    console: Console,
    values: Mapping[str, object],
    rows: Mapping[str, object],
    quarantine: Quarantine,
    written_to: Path | None = None,
) -> None:
    """Print ``values`` as JSON, or for a person ``rows`` and tables of what was set aside.

    ``written_to``: the file that has the complete list of it.
    """
    if console.is_json:
        console.result(values)
        return
    lines = result_lines(rows)
    if quarantine.count:
        table = [[why, f"{number:,}", RECORD_REMEDIES.get(why, "")] for why, number in quarantine.by_reason.items()]
        lines += ["", f"{count_text(quarantine.count, 'record was', 'records were')} set aside:"]
        lines += [f"  {line}" for line in text_table(("reason", "records", "what to do"), table)]
        is_long = quarantine.count > MAX_SHOWN
        shown = {entry.kind if is_long else entry: entry for entry in reversed(quarantine.entries)}
        lines += ["", "The first of each reason:" if is_long else "They are:"]
        lines += [f"  {entry.place}: {entry.reason}" for entry in reversed(shown.values())]
        if written_to is not None:
            lines.append(f"All are listed in {written_to}")
    for line in lines:
        console.line(line)


def check_games(paths: Sequence[Path]) -> None:
    """Raise ValueError if none of the records can be parsed."""
    quarantine = Quarantine()
    if not has_games(paths, quarantine):
        raise ValueError(nothing_read(quarantine))


def has_games(paths: Sequence[Path], quarantine: Quarantine) -> bool:
    """Tell whether a record can be parsed, which needs no kernels; those before it are set aside."""
    from suphx.games.riichi.archive.archive import iter_records

    return next(iter_records(paths, quarantine=quarantine, is_fragment_allowed=True), None) is not None


def nothing_read(quarantine: Quarantine) -> str:
    """Return why no record could be used."""
    if not quarantine.entries:
        return "the files are empty"
    return f"none of {quarantine.count:,} records can be used; the first: {quarantine.entries[0]}"
