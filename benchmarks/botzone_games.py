"""Games over Botzone's JSON between zips of ``suphx bot --game mcr`` and outside programs: errors and slowest steps.

``python benchmarks/botzone_games.py bot.zip --games 1000``. A zip runs in a Python that can import nothing but its
standard library and what is in ``--packages``, such as ``pip install --target DIR numpy``. A program is a command line
that gets all requests and replies in one JSON object and writes one; it is started for each request.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

from suphx.games.mcr.bot import KEEP_RUNNING
from suphx.games.mcr.botzone import new_referee
from suphx.games.mcr.record import record_of
from suphx.games.mcr.table import NUM_SEATS, Rules
from suphx.games.mcr.tables import McrTables
from suphx.json_text import parse_json


class Player(Protocol):
    """Replies to requests in one game."""

    def reply(self, request: str) -> tuple[str, float]:
        """Return the reply to the next request, and the CPU time that it took."""

    def close(self) -> None:
        """End the game."""


@dataclass
class StartedEachTime:
    """A program that is started for every request."""

    command: list[str]
    environment: dict[str, str]
    requests: list[str] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)

    def reply(self, request: str) -> tuple[str, float]:
        """Return the reply to the next request, and the CPU time of the program."""
        self.requests.append(request)
        text = json.dumps({"requests": self.requests, "responses": self.replies})
        process = _start(self.command, self.environment)
        source, sink = _pipes(process)
        with sink:
            print(text, file=sink)
        with source:
            self.replies.append(_response(source.read().strip()))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return self.replies[-1], usage.ru_utime + usage.ru_stime

    def close(self) -> None:
        """Nothing is left."""


class KeptRunning:
    """A program that goes on after each reply."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        """Start it."""
        self._process = _start(command, environment)
        self._is_first, self._used = True, 0.0

    def reply(self, request: str) -> tuple[str, float]:
        """Return the reply to the next request, and the CPU time since the last one."""
        source, sink = _pipes(self._process)
        print(
            json.dumps({"requests": [request], "responses": []}) if self._is_first else request, file=sink, flush=True
        )
        self._is_first = False
        reply, marker = _response(source.readline().strip()), source.readline().strip()
        before, self._used = self._used, _cpu_seconds(self._process.pid)
        return reply if marker == KEEP_RUNNING else f"{reply}, no marker", self._used - before

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def _start(command: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def _pipes(process: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    """Return standard output and standard input."""
    assert process.stdout is not None
    assert process.stdin is not None
    return process.stdout, process.stdin


def _cpu_seconds(process: int) -> float:
    times = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[11:13]
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


def _response(text: str) -> str:
    try:
        return str(parse_json(text)["response"])
    except (ValueError, KeyError, TypeError):
        return text


@dataclass
class Result:
    """What a player did in a game."""

    name: str
    score: int
    is_winner: bool
    error: str
    """The illegal reply, with the request."""
    slowest: float
    """CPU time of a reply, with the start of the program."""


def play(seed: int, seats: Sequence[tuple[str, Player]]) -> list[Result]:
    """Play the game of a seed."""
    tables = McrTables(1, Rules())
    tables.begin([0], [seed])
    referee, slowest = new_referee(record_of(tables.state[0], Rules())), [0.0] * NUM_SEATS
    requests = replies = [""] * NUM_SEATS
    while not referee.is_over:
        requests, replies = referee.requests(), []
        for seat, (_, player) in enumerate(seats):
            reply, seconds = player.reply(requests[seat])
            replies.append(reply)
            slowest[seat] = max(slowest[seat], seconds)
        referee.answer(replies)
    table = referee.table
    for _, player in seats:
        player.close()
    return [
        Result(
            name,
            int(table["score"][seat]),
            bool(table["winner"] == seat),
            f"{requests[seat]}: {replies[seat]}" if table["offender"] == seat else "",
            slowest[seat],
        )
        for seat, (name, _) in enumerate(seats)
    ]


def main() -> None:
    """Play the games and print one line of JSON for each player."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("zips", metavar="ZIP", type=Path, nargs="+")
    parser.add_argument("--program", metavar="COMMAND", default=[], action="append", help="an outside program")
    parser.add_argument("--games", metavar="N", type=int, default=100)
    parser.add_argument("--seed", metavar="S", type=int, default=0)
    parser.add_argument("--python", metavar="PATH", default=os.path.realpath(sys.executable), help="of the zips")
    parser.add_argument("--packages", metavar="DIR", default="", help="the only ones that zips can import")
    parser.add_argument("--workers", metavar="N", type=int, default=os.cpu_count())
    args = parser.parse_args()
    names = [*map(str, args.zips), *args.program]
    environment = {"PYTHONPATH": str(Path(args.packages).resolve()) if args.packages else "", "OMP_NUM_THREADS": "1"}

    def new_player(name: str) -> Player:
        if Path(name) not in args.zips:
            return StartedEachTime(shlex.split(name), dict(os.environ))
        return KeptRunning([args.python, "-S", name], environment)

    def play_game(number: int) -> list[Result]:
        seats = [names[(number + seat) % len(names)] for seat in range(NUM_SEATS)]
        return play(args.seed + number, [(name, new_player(name)) for name in seats])

    with ThreadPoolExecutor(args.workers) as threads:
        results = [result for game in threads.map(play_game, range(args.games)) for result in game]
    for name in dict.fromkeys(result.name for result in results):
        own = [result for result in results if result.name == name]
        errors = Counter(result.error for result in own if result.error)
        sums = {"score": sum(result.score for result in own), "wins": sum(result.is_winner for result in own)}
        slowest = round(max(result.slowest for result in own), 3)
        print(json.dumps({"player": name, "seats": len(own), **sums, "slowest_seconds": slowest, "errors": errors}))


if __name__ == "__main__":
    main()
