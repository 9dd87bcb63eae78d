"""What benchmarks measure with: winning hands of our games, and how many of them are counted."""

from __future__ import annotations

import numpy as np

from suphx.games.mahjong.shanten import Suits, load_suits
from suphx.games.mcr.fans import NUM_FANS, count_fans
from suphx.games.mcr.table import NO_SEAT, NUM_KINDS, Rules
from suphx.games.mcr.tables import McrTables, ScriptedAgent
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I64, Records, field, record_dtype


class Win:
    """A winning hand, with the arguments of ``count_fans``."""

    counts: I8 = field("i1", NUM_KINDS)  # the winning tile included
    meld_type: I8 = field("i1", 4)
    meld_kind: I8 = field("i1", 4)
    num_melds: int = field("i1")
    win_kind: int = field("i1")
    circumstances: int = field("i1")
    round_wind: int = field("i1")
    seat_wind: int = field("i1")


WIN = record_dtype(Win)
_NUM_TABLES = 500


def collect_wins(number: int, *, seed: int) -> Records:
    """Return WIN (number,): wins of the shanten agent at all seats, whatever they count."""
    wins: Records = np.zeros(number, WIN)
    tables, agent, found = McrTables(_NUM_TABLES, Rules(minimum_fan=0)), ScriptedAgent("shanten"), 0
    while found < number:
        tables.begin(np.arange(_NUM_TABLES), range(seed, seed + _NUM_TABLES))
        seed += _NUM_TABLES
        while (waiting := tables.waiting()).size:
            tables.advance(waiting, agent.act(tables.state, waiting))
        ended = tables.state[tables.state["winner"] != NO_SEAT][: number - found]
        own, seats = np.arange(len(ended)), ended["winner"]
        new = wins[found : found + len(ended)]
        new["counts"] = ended["hand"][own, seats]
        new["counts"][own, ended["win_kind"]] += ended["loser"] != NO_SEAT
        for name in ("meld_type", "meld_kind", "num_melds"):
            new[name] = ended[name][own, seats]
        new["win_kind"], new["circumstances"] = ended["win_kind"], ended["win_circumstances"]
        new["round_wind"], new["seat_wind"] = ended["round_wind"], seats
        found += len(ended)
    return wins


def count_wins(wins: Records, options: int) -> I64:
    """Return the fan of each of ``wins``, int64 (n,); ``options``: bits of fans.py."""
    totals = np.zeros(len(wins), np.int64)
    _count(load_suits(), wins, options, totals)
    return totals


@jit
def _count(suits: Suits, wins: Records, options: int, totals: I64) -> None:
    found = np.zeros(NUM_FANS + 1, np.int8)
    for i in range(len(wins)):
        w = wins[i]
        totals[i] = count_fans(
            suits, w.counts, w.meld_type, w.meld_kind, w.num_melds, w.win_kind, w.circumstances, w.round_wind,
            w.seat_wind, options, found,
        )  # fmt: skip
