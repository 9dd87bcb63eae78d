"""Reads damaged files of every format and counts what came of them: nothing but a clear error or a game may.

    python -m tests.games.riichi.fuzzing.record_fuzzer --records 1000000 --processes 2 --json

Input ``n`` of a run follows from ``--seed``, ``n`` and the seed games alone, so ``--only n`` does it again. An input is
sound, differs (read, but it contradicts the rules), or is refused by a ValueError or an entry of the quarantine that
says what and where. A finding is anything else: another exception or a warning, a process that dies, hangs or needs too
much memory.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from numba import config as numba_config

from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.names import HEAD_NAMES
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.mjai_writer import write_mjai
from suphx.games.riichi.records.mjlog_writer import write_mjlog
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.records.replay import Replayer
from suphx.games.riichi.records.tenhou6_writer import write_tenhou6
from suphx.games.riichi.records.viewer_game import viewer_game
from tests.games.riichi.fuzzing.file_damage import RECORD_FORMS, Files
from tests.games.riichi.fuzzing.fuzz_seed import Seed, load_seeds
from tests.games.riichi.fuzzing.fuzz_watchdog import Limits, Summary, do_chunk, watch
from tests.games.riichi.fuzzing.giant_input import GIANTS
from tests.games.riichi.fuzzing.log_damage import damage_log

SOUND, DIFFERS, REFUSED, UNWRITABLE = OUTCOMES = ("sound", "differs", "refused", "not written")

CHUNK_SIZE = 250

_MEMORY_LOG_WEIGHT = 12
_VARYING = re.compile(
    r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]|\([^)]*\)|/\S+|[0-9A-Za-z.]*[0-9][0-9,.]*[0-9A-Za-z]*|\b[ESWNPFC]\b(, [ESWNPFC]\b)*"
)
_NAMED = re.compile(r"(unknown tag|unknown event|tag|attribute|type|kan of|chi of|pon of|daiminkan of) \S+")


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzConfig:
    """What a run is made of; picklable, as each process makes its own fuzzer of it."""

    seed: int = 0
    num_games: int = 4
    """Games of each kind of agent that the seeds are cut from."""
    real: Path | None = None
    """Real records as further seeds."""
    stored: bool = True
    """Also stores, checkpoints and marks of stages; they need torch."""


@dataclass(frozen=True, slots=True)
class _Form:
    """One format: how to make an input and how to read it. ``read`` yields what came of it, or raises ValueError."""

    name: str
    weight: float
    make: Callable[[Random, Sequence[Seed]], Files]
    read: Callable[[Path, int], Iterator[str]]


class RecordFuzzer:
    """Makes inputs by number in ``folder`` and reads them.

    >>> with open_fuzzer(FuzzConfig()) as fuzzer:
    ...     print(list(fuzzer(17)))
    """

    def __init__(self, config: FuzzConfig, folder: Path) -> None:
        self._config = config
        self._folder = folder
        self._seeds = load_seeds(config.real, num_games=config.num_games)
        self._replayer = Replayer()
        self._forms = [_Form(form.name, form.weight, form.make, self._read_records) for form in RECORD_FORMS]
        self._forms.append(_Form("log in memory", _MEMORY_LOG_WEIGHT, lambda random, seeds: {}, self._replay_log))
        if config.stored:
            self._forms += _stored_forms(self._seeds, folder)
        list(self._replay(self._seeds[0].log, 0))  # kernels are compiled before any input's time is taken

    def __call__(self, number: int) -> Iterator[str]:
        """Yield "format: what came of it" for input ``number``; numbers below zero are the giants."""
        form, files = self._input(number)
        for old in self._folder.iterdir():
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        _write_files(files, self._folder)
        try:
            for kind in form.read(self._folder, number):
                yield f"{form.name}: {kind}"
        except ValueError as error:
            yield f"{form.name}: {REFUSED}: {normalised(str(error))}"

    def write(self, number: int, target: Path) -> None:
        """Write the files of input ``number`` into ``target``."""
        target.mkdir(parents=True, exist_ok=True)
        _write_files(self._input(number)[1], target)

    def _input(self, number: int) -> tuple[_Form, Files]:
        if number < 0:
            name = list(GIANTS)[-1 - number]
            return _Form(f"giant, {name}", 0, lambda random, seeds: {}, self._read_records), GIANTS[name]()
        random = Random(f"{self._config.seed}/{number}")
        form = random.choices(self._forms, [form.weight for form in self._forms])[0]
        return form, form.make(random, self._seeds)

    def _read_records(self, folder: Path, number: int) -> Iterator[str]:
        quarantine = Quarantine()
        for log in iter_records([folder], quarantine=quarantine, is_fragment_allowed=True):
            yield from self._replay(log, number)
        for entry in quarantine.entries:
            assert entry.reason
            yield f"{REFUSED}: {normalised(entry.reason)}"

    def _replay_log(self, folder: Path, number: int) -> Iterator[str]:
        random = Random(f"{self._config.seed}/{number}/log")
        yield from self._replay(damage_log(random, random.choice(self._seeds).log), number)

    def _replay(self, log: GameLog, number: int) -> Iterator[str]:
        differences = self._replayer.replay(log)
        yield f"{DIFFERS}: {normalised(differences[0].what.partition(':')[0])}" if differences else SOUND
        if number % 4 == 0:
            with contextlib.suppress(ValueError):
                viewer_game(log)
            yield from _write(log)


def _write_files(files: Files, folder: Path) -> None:
    for name, data in files.items():
        (folder / name).write_bytes(data)


def _write(log: GameLog) -> Iterator[str]:
    """Write a game in all forms."""
    try:
        write_mjai(log)
        if all(kyoku.is_result_complete for kyoku in log.kyokus):
            write_tenhou6(log)
            write_mjlog(log)
    except ValueError as error:
        yield f"{UNWRITABLE}: {normalised(str(error))}"


def _stored_forms(seeds: Sequence[Seed], folder: Path) -> list[_Form]:
    from tests.games.riichi.fuzzing import stored_damage

    _write_files(stored_damage.sound_store(seeds), folder)
    for head in range(len(HEAD_NAMES)):
        stored_damage.play_store(folder, head)
    forms = (
        ("store", 6, stored_damage.damaged_store, stored_damage.play_store),
        ("checkpoint", 2, stored_damage.damaged_checkpoint, stored_damage.read_checkpoint),
        ("training state", 1, stored_damage.damaged_state, stored_damage.read_state),
        ("marks of a stage", 2, stored_damage.damaged_marks, stored_damage.read_marks),
    )
    return [_Form(name, weight, make, functools.partial(_read_stored, read)) for name, weight, make, read in forms]


def _read_stored(read: Callable[[Path, int], None], folder: Path, number: int) -> Iterator[str]:
    read(folder, number)
    yield SOUND


def normalised(text: str) -> str:
    """Return an error's text without the numbers, names and values in it, as a terminal can show it."""
    short = _VARYING.sub("…", _NAMED.sub(r"\1 …", text))[:80]
    return short.encode("utf-8", "backslashreplace").decode()


@contextlib.contextmanager
def open_fuzzer(config: FuzzConfig) -> Iterator[RecordFuzzer]:
    """Give a fuzzer that works in a temporary folder of its own."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        yield RecordFuzzer(config, Path(name))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the fuzzer; 1 if it found something."""
    args = _parser().parse_args(arguments)
    config = FuzzConfig(seed=args.seed, real=args.real, stored=not args.no_stored)
    if args.only is not None:
        with open_fuzzer(config) as fuzzer:
            if args.keep:
                fuzzer.write(args.only, args.keep)
            summary = do_chunk(fuzzer, [args.only])
        return _report(summary, 0.0, args.json)
    start = time.monotonic()
    first = 0 if args.no_giants else -len(GIANTS)

    def show(done: int) -> None:
        if done % 10_000 < CHUNK_SIZE:
            print(f"{done:,} in {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)

    make = functools.partial(open_fuzzer, config)
    summary = watch(
        make, range(first, args.records), args.processes, limits=Limits(), chunk_size=CHUNK_SIZE, progress=show
    )
    return _report(summary, time.monotonic() - start, args.json)


def _parser() -> argparse.ArgumentParser:
    program = "python -m tests.games.riichi.fuzzing.record_fuzzer"
    parser = argparse.ArgumentParser(prog=program, description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=50_000, metavar="N", help="inputs (default 50,000)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="N", help="default: one a core")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="another seed makes other inputs")
    given = os.environ.get("SUPHX_RECORDS")
    parser.add_argument(
        "--real", type=Path, default=Path(given) if given else None, metavar="PATH", help="real records"
    )
    parser.add_argument("--only", type=int, metavar="N", help="do one input again, in this process")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="with --only: write its files there")
    parser.add_argument("--no-giants", action="store_true", help="leave out the inputs of 100 MB and more")
    parser.add_argument("--no-stored", action="store_true", help="leave out what the project itself stores")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    return parser


def _report(summary: Summary, seconds: float, as_json: bool) -> int:
    if as_json:
        figures = {
            "records": summary.num_done,
            "seconds": round(seconds, 1),
            "records_per_second": round(summary.num_done / seconds) if seconds else None,
            "findings": [asdict(finding) for finding in summary.findings],
            "outcomes": {name: sum(_of_outcome(summary, name)) for name in OUTCOMES},
            "kinds": dict(summary.kinds.most_common()),
            "slowest": {"number": summary.slowest_number, "seconds": round(summary.slowest_seconds, 3)},
            "peak_bytes": summary.peak_bytes,
            "bounds_checked": bool(vars(numba_config)["BOUNDSCHECK"]),
        }
        print(json.dumps(figures, ensure_ascii=False))
    else:
        for kind, count in sorted(summary.kinds.items(), key=lambda item: (item[0].split(":")[0], -item[1])):
            print(f"{count:>9,}  {kind}")
        print(
            f"{summary.num_done:,} inputs, {seconds:.0f} s; "
            f"slowest: {summary.slowest_number}, {summary.slowest_seconds:.2f} s"
        )
        print(f"peak memory of a process: {summary.peak_bytes / 1024**2:,.0f} MB; findings: {len(summary.findings)}")
        for finding in summary.findings[:50]:
            print(f"input {finding.number}: {finding.what}\n{finding.detail}")
    return 1 if summary.findings else 0


def _of_outcome(summary: Summary, name: str) -> Iterator[int]:
    return (count for kind, count in summary.kinds.items() if kind.split(": ")[1] == name)


if __name__ == "__main__":
    sys.exit(main())
