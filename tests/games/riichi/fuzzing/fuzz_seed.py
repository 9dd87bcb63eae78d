"""Sound games of one or two deals for the fuzzer: of hasty and of calm agents, on walls of a seed, and real ones."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.mjai_writer import write_mjai
from suphx.games.riichi.records.mjlog import SEED_PREFIX, tenhou_deals
from suphx.games.riichi.records.mjlog_writer import write_mjlog
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.records.tenhou6_writer import write_tenhou6
from suphx.games.riichi.rules import tenhou, tonpuu
from suphx.games.riichi.tables import ScriptedAgent
from suphx.selfplay.rollouts.rollout import play_games
from tests.games.riichi.builders.games import drawn_game, random_game

SHUFFLE_SEED = SEED_PREFIX + base64.b64encode(bytes(range(256)) * 9 + bytes(192)).decode()
MAX_REAL_GAMES = 80

_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True, slots=True, eq=False)
class Seed:
    """One sound game in every form that damage is done to."""

    log: GameLog
    mjlog: str
    mjai: str
    tenhou6: str
    tags: tuple[str, ...]
    events: tuple[dict[str, Any], ...]


def load_seeds(real: Path | None, *, num_games: int) -> list[Seed]:
    """Return the seeds: cut from ``num_games`` games of each kind of agent, and from the records of ``real`` if given.

    They are the same whenever the arguments are.
    """
    return [_seed(part) for game in _games(real, num_games) for part in _parts(game)]


def _games(real: Path | None, num_games: int) -> Iterator[GameLog]:
    for number in range(num_games):
        yield random_game(number, tonpuu() if number % 2 else None)
    agents = [ScriptedAgent("ukeire"), ScriptedAgent("random")]
    seating = np.zeros((num_games, 4), np.int64)
    seating[1::2, ::2] = 1
    yield from play_games(agents, seating, range(num_games), tenhou())
    yield drawn_game(*(deal.wall for deal in islice(tenhou_deals(SHUFFLE_SEED), 2)))
    if real is not None:
        logs = iter_records([real], quarantine=Quarantine(), is_fragment_allowed=True)
        yield from islice((log for log in logs if log.kyokus[0].is_result_complete), MAX_REAL_GAMES)


def _parts(game: GameLog) -> Iterator[GameLog]:
    """Yield the deals of a game one by one and in pairs, in turns."""
    index = 0
    while index < len(game.kyokus):
        end = min(index + 1 + index % 3 % 2, len(game.kyokus))
        final = game.final_scores if end == len(game.kyokus) else None
        yield dataclasses.replace(game, kyokus=game.kyokus[index:end], final_scores=final)
        index = end


def _seed(log: GameLog) -> Seed:
    mjlog, mjai, tenhou6 = write_mjlog(log), write_mjai(log), write_tenhou6(log)
    events = tuple(json.loads(line) for line in mjai.splitlines())
    return Seed(log, mjlog, mjai, tenhou6, tuple(_TAG.findall(mjlog)), events)
