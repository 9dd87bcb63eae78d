"""``suphx records verify | statistics | convert``, and what all commands say of records that were set aside."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from suphx.games.riichi.records.quarantine import MAX_SHOWN, RECORD_REMEDIES, Quarantine
from suphx.printable_text import printable
from suphx_cli.arguments import add_workers, check_no_source, check_output_file, check_records, positive
from suphx_platform.console.table_text import count_text, text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suphx.games.riichi.archive.archive import VerifyReport
    from suphx.games.riichi.archive.record_stream import ReadShare
    from suphx.games.riichi.archive.record_writer import RecordForm
    from suphx.games.riichi.records.game_log import GameLog
    from suphx_cli.arguments import Subparsers
    from suphx_platform.console.console import Console


PATH_HELP = "a record file or a folder of records"
OUT_HELP = (
    "a folder, for one file per game; or a file: .mjson, .mjai or .jsonl (mjai), .json or .tenhou6 (tenhou6), .tsv (a "
    "table of mjlog), .mjlog or .xml (one game); each but .mjlog may end in .gz or .xz"
)


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``records`` with its three sub-commands."""
    parser = commands.add_parser("records", help="verify, summarize or convert game records")
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    verify = verbs.add_parser(
        "verify",
        parents=[options],
        help="replay records with the rules engine and count the differences",
        description="Replay records with the rules engine. Exit code 0: no difference; records that cannot be read "
        "are set aside and counted. Exit code 1: there are differences, or no record could be read.",
    )
    verify.add_argument("paths", nargs="+", type=Path, metavar="PATH", help=PATH_HELP)
    verify.add_argument("--limit", type=positive, metavar="N", help="stop after N records")
    add_workers(verify)
    verify.set_defaults(execute=execute_verify)

    statistics = verbs.add_parser("statistics", parents=[options], help="show the results and rates of one player")
    statistics.add_argument("path", type=Path, metavar="PATH", help=PATH_HELP)
    statistics.add_argument(
        "--player", required=True, metavar="NAME", help="name of the player, as written in the records"
    )
    statistics.add_argument(
        "--luck",
        action="store_true",
        help="also show placement and points without the luck of dealt hands and draws (docs/evaluation.md), learned "
        "from all games in PATH, 40 or more",
    )
    add_workers(statistics)
    statistics.set_defaults(execute=execute_statistics)

    convert = verbs.add_parser(
        "convert",
        parents=[options],
        help="convert records to mjlog, mjai or tenhou6",
        description="Convert records to mjlog, mjai or tenhou6 (JSON of tenhou.net/6). Exit code 1: no record could be "
        "converted.",
    )
    convert.add_argument("source", type=Path, metavar="IN", help=PATH_HELP)
    convert.add_argument("target", type=Path, metavar="OUT", help=OUT_HELP)
    convert.add_argument(
        "--to", choices=("mjlog", "mjai", "tenhou6"), help="the format to write; from OUT if that is a file"
    )
    convert.add_argument(
        "--list", type=Path, metavar="FILE", help="write a list of the records that were not converted to FILE"
    )
    add_workers(convert)
    convert.set_defaults(execute=execute_convert)


def execute_verify(args: argparse.Namespace, console: Console) -> None:
    """Replay every record; ValueError for a missing path, for differences, and if nothing could be read."""
    for path in args.paths:
        check_records(path, "PATH")
    from suphx.games.riichi.archive.archive import verify_records
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    if has_games(args.paths, Quarantine()):
        compile_kernels(console, "engine", "hands", "replay")

    with _reading(console, args.limit) as (count, read):
        report = verify_records(args.paths, limit=args.limit, workers=args.workers, progress=count, read=read)
    _show(console, report.to_json(), _verify_rows(report), report.quarantine)
    for difference in report.first_differences if not console.is_json else ():
        console.line(
            f"  {printable(difference.id)}, deal {difference.kyoku + 1}, step {difference.step}: {difference.what}"
        )
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

    Also for a list that would replace a record, or that cannot be written, before any record is converted.
    """
    check_records(args.source, "IN")
    from suphx.games.riichi.archive.archive import iter_records
    from suphx.games.riichi.archive.raw_record import record_files
    from suphx.games.riichi.archive.record_writer import write_records

    form = _form_to_write(args.target, args.to)
    target = args.target.resolve()
    is_source = target == args.source.resolve()
    sources = set() if is_source else {file.resolve() for file in record_files([args.source])}
    if is_source or target in sources:
        raise ValueError(f"{args.target} is also the source of the records: choose another OUT")
    if args.list is not None:
        _check_list(args.list, sources, args.target)
    if form != "mjai":
        _compile_for_results([args.source], console)
    quarantine = Quarantine()
    with _reading(console) as (count, read):
        logs = _counted(iter_records([args.source], workers=args.workers, quarantine=quarantine, read=read), count)
        written = write_records(logs, args.target, form, quarantine=quarantine, kept=sources)
    if args.list is not None:
        quarantine.write(args.list)
    counts = {"games": written + quarantine.count, "written": written}
    rows = {"games": counts["games"], "written": written, "to": str(args.target)}
    _show(console, {**counts, **quarantine.to_json()}, rows, quarantine, args.list)
    if not written:
        raise ValueError(f"nothing was written to {args.target}: {nothing_read(quarantine)}")


def _form_to_write(target: Path, form: RecordForm | None) -> RecordForm:
    """Return the format of OUT; ValueError if neither its name nor ``--to`` tells it, or if they disagree."""
    from suphx.games.riichi.archive.record_writer import file_forms

    forms = file_forms(target)
    if form is None and not forms:
        raise ValueError(f"{target} is a folder, or a name without a known ending: add --to mjlog, mjai or tenhou6")
    if form is not None and forms and form not in forms:
        raise ValueError(
            f"{target.name} is the name of a file of {' or '.join(forms)}, not {form}: choose another OUT or --to"
        )
    return form or forms[0]


def _compile_for_results(paths: Sequence[Path], console: Console) -> None:
    """Compile what computes han, fu and yaku, if the first game that can be read is without them (mjai, tenhou6)."""
    from suphx.games.riichi.archive.archive import iter_records
    from suphx.games.riichi.records.replay import is_result_whole
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    first = next(iter_records(paths, quarantine=Quarantine()), None)
    if first is not None and not all(map(is_result_whole, first.kyokus)):
        compile_kernels(console, "engine", "hands", "replay")


def _check_list(path: Path, sources: Iterable[Path], target: Path) -> None:
    """Raise ValueError if the list cannot be written, or would replace a record that is read or written."""
    check_output_file(path, "--list")
    check_no_source(path, sources, "--list")
    if target.resolve() in (path.resolve(), *path.resolve().parents):
        raise ValueError(f"--list is {path}, which is OUT, or in that folder: name another file")


@contextmanager
def _reading(console: Console, limit: int | None = None) -> Iterator[tuple[Callable[[int], None], ReadShare]]:
    """Show how far the files are read, or how many of ``limit`` games; yield what counts games and bytes."""
    from suphx.games.riichi.archive.record_stream import ReadShare
    from suphx_platform.console.table_text import count_text

    read, games = ReadShare(), 0
    unit, total = ("%", 100.0) if limit is None else ("games", float(limit))
    with console.progress(unit, total, note="reading the first records") as progress:

        def count(number: int) -> None:
            nonlocal games
            games += number
            if limit is None:
                progress.reach(100 * read.share, count_text(games, "game"))
            else:
                progress.reach(games)

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
    """Print ``values`` as JSON, or ``rows`` and what was set aside for a person."""
    from suphx_platform.console.table_text import result_lines

    if console.is_json:
        console.result(values)
        return
    for line in [*result_lines(rows), *quarantine_lines(quarantine, written_to)]:
        console.line(line)


def _verify_rows(report: VerifyReport) -> dict[str, object]:
    unchecked = [{"reason": reason, "draws": count} for reason, count in report.draws_unchecked.most_common()]
    ignored = [{"what": what, "times": count} for what, count in report.ignored.most_common()]
    return {
        "games": report.games,
        "kyoku": report.kyoku,
        "decisions": report.decisions,
        "differences": report.differences,
        "draws compared with the shuffle seed": report.draws_checked,
        "seconds": report.seconds,
        "draws that could not be compared": unchecked,
        "ignored, because no game needs it": ignored,
    }


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


def quarantine_sentence(quarantine: Quarantine) -> str | None:
    """Return how many records were set aside, and why the first one; None if none was."""
    if not quarantine.count:
        return None
    records = count_text(quarantine.count, "record was", "records were")
    return f"{records} set aside; the first: {quarantine.entries[0]}"


def quarantine_lines(quarantine: Quarantine, written_to: Path | None = None) -> list[str]:
    """Return the lines of a table of reasons and of the first records; none if nothing was set aside.

    ``written_to``: the file that has the complete list.
    """
    if not quarantine.count:
        return []
    records = count_text(quarantine.count, "record was", "records were")
    rows = [[reason, f"{count:,}", RECORD_REMEDIES.get(reason, "")] for reason, count in quarantine.by_reason.items()]
    lines = ["", f"{records} set aside:"]
    lines += [f"  {line}" for line in text_table(("reason", "records", "what to do"), rows)]
    shown = {entry.kind if quarantine.count > MAX_SHOWN else entry: entry for entry in reversed(quarantine.entries)}
    lines += ["", "The first of each reason:" if quarantine.count > MAX_SHOWN else "They are:"]
    lines += [f"  {entry.place}: {entry.reason}" for entry in reversed(shown.values())]
    if written_to is not None:
        lines.append(f"All are listed in {written_to}")
    return lines
