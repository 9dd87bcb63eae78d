"""Reads damaged files of runs, of every kind, and counts what came of them: nothing but a clear error may.

    python -m tests.suphx_pipelines.fuzzing.state_fuzzer --inputs 1000000 --processes 2

Prints one JSON object. Input ``n`` follows from ``--seed`` and ``n`` alone, so ``--only n`` repeats it. A finding is an
exception other than ValueError and the documented ones, a warning, a process that dies, hangs or needs more than 1 GB,
or a file outside of the input's folder.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import logging
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random

from tests.games.riichi.fuzzing.fuzz_watchdog import Limits, Summary, do_chunk, watch
from tests.games.riichi.fuzzing.record_fuzzer import normalised
from tests.suphx_pipelines.fuzzing.recipe_forms import recipe_forms
from tests.suphx_pipelines.fuzzing.run_forms import empty, run_forms
from tests.suphx_pipelines.fuzzing.state_forms import state_forms
from tests.suphx_pipelines.fuzzing.stored_form import StoredForm

READ, REFUSED = "read", "refused"
LIMITS = Limits(seconds=60, bytes=1024**3)
CHUNK_SIZE = 250


class StateFuzzer:
    """Makes inputs by number in ``folder`` and reads them."""

    def __init__(self, seed: int, folder: Path, kinds: Sequence[str] = ()) -> None:
        """``kinds``: names of forms; empty: all."""
        self._seed = seed
        self._outside = folder
        self._folder = folder / "files"
        self._folder.mkdir()
        (folder / "x").write_bytes(b"outside")
        forms = [*recipe_forms(), *run_forms(), *state_forms()]
        self._forms = [form for form in forms if not kinds or form.name in kinds]

    def __call__(self, number: int) -> Iterator[str]:
        """Yield "kind: what came of it" for input ``number``."""
        random = Random(f"{self._seed}/{number}")
        form = random.choices(self._forms, [form.weight for form in self._forms])[0]
        self.write(form, random)
        try:
            form.read(self._folder, random)
            yield f"{form.name}: {READ}"
        except ValueError as error:
            text = normalised(str(error))
            if not text:
                raise
            yield f"{form.name}: {REFUSED}: {text}"
        outside = {path.name for path in self._outside.iterdir()} - {"files", "x"}
        assert not outside, f"a file outside of the folder: {outside}"
        assert (self._outside / "x").read_bytes() == b"outside"

    def write(self, form: StoredForm, random: Random) -> None:
        """Write the files of an input into the folder, in the place of those before."""
        empty(self._folder)
        for name, data in form.make(random).items():
            path = self._folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


@contextlib.contextmanager
def open_fuzzer(seed: int = 0, kinds: Sequence[str] = ()) -> Iterator[StateFuzzer]:
    """Give a fuzzer that works in a temporary folder of its own."""
    logging.disable()  # the storage logs each damaged version
    try:
        with tempfile.TemporaryDirectory(prefix="fuzz-states-") as name:
            yield StateFuzzer(seed, Path(name), kinds)
    finally:
        logging.disable(logging.NOTSET)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the fuzzer; 1 if it found something."""
    args = _parser().parse_args(arguments)
    start = time.monotonic()
    if args.only is not None:
        with open_fuzzer(args.seed, args.kind) as fuzzer:
            summary = do_chunk(fuzzer, [args.only])
    else:
        make = functools.partial(open_fuzzer, args.seed, args.kind)
        numbers = range(args.first, args.first + args.inputs)
        summary = watch(make, numbers, args.processes, limits=LIMITS, chunk_size=CHUNK_SIZE, progress=_show)
    print(json.dumps(figures(summary, time.monotonic() - start), ensure_ascii=False, indent=1))
    return 1 if summary.findings else 0


def figures(summary: Summary, seconds: float) -> dict[str, object]:
    """Return what is printed."""
    by_kind: dict[str, Counter[str]] = {}
    for kind, count in summary.kinds.items():
        name, outcome = kind.split(": ")[:2]
        by_kind.setdefault(name, Counter())[outcome] += count
    return {
        "inputs": summary.num_done,
        "seconds": round(seconds, 1),
        "inputs_per_second": round(summary.num_done / seconds, 1),
        "kinds": {name: {"inputs": counts.total(), **counts} for name, counts in sorted(by_kind.items())},
        "different_errors": len(summary.kinds),
        "slowest": {"number": summary.slowest_number, "seconds": round(summary.slowest_seconds, 3)},
        "peak_bytes": summary.peak_bytes,
        "findings": [asdict(finding) for finding in summary.findings[:50]],
        "num_findings": len(summary.findings),
    }


def _show(done: int) -> None:
    if done % 10_000 < CHUNK_SIZE:
        print(f"{done:,} inputs", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    program = "python -m tests.suphx_pipelines.fuzzing.state_fuzzer"
    parser = argparse.ArgumentParser(prog=program, description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=50_000, metavar="N", help="default: 50,000")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first input")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="N", help="default: one a core")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="another seed makes other inputs")
    parser.add_argument("--kind", action="append", default=[], metavar="NAME", help="only this kind; repeatable")
    parser.add_argument("--only", type=int, metavar="N", help="repeat one input in this process")
    return parser


if __name__ == "__main__":
    sys.exit(main())
