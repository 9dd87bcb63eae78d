"""Games in a list: played here, or read from records."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.archive.record_writer import RecordForm, write_records
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.rules import Rules, tenhou
from suphx.selfplay.agents.agent import AgentLike, as_agent
from suphx.selfplay.rollouts.rollout import play_games


def simulate(
    agents: AgentLike | Sequence[AgentLike], num_games: int = 1, *, seed: int = 0, rules: Rules | None = None
) -> list[GameLog]:
    """Play games and return their logs; game i has the walls of ``seed + i`` and the id ``<seed + i>-<i>``.

    ``agents``: one for all seats, or four, seat 0 (the first dealer) first: agents, or addresses for ``load_agent``;
    ``rules``: Tenhou's if None.
    ValueError for another number of agents or games, an unknown agent, or a seed outside 0 … 2**62 - 1.

    >>> games = simulate(["ukeire", "tsumogiri", "tsumogiri", "tsumogiri"], 2, seed=7)
    >>> [game.id for game in games]
    ['7-0', '8-1']
    >>> games[0].names
    ('ukeire', 'tsumogiri', 'tsumogiri', 'tsumogiri')
    """
    seats = [agents] * 4 if isinstance(agents, str) or not isinstance(agents, Sequence) else list(agents)
    if len(seats) != 4:
        raise ValueError(f"{len(seats)} agents: give one for all seats, or four")
    if num_games < 1:
        raise ValueError(f"num_games is {num_games}: use 1 or more")
    # Agents need no hash, and may be equal.
    keys = [str(agent) if isinstance(agent, str | Path) else id(agent) for agent in seats]
    known = dict(zip(keys, seats, strict=True))
    places = {key: place for place, key in enumerate(known)}
    loaded = [as_agent(agent) for agent in known.values()]
    seating = np.array([[places[key] for key in keys]] * num_games)
    return list(play_games(loaded, seating, range(seed, seed + num_games), rules or tenhou()))


def load_games(path: str | Path, num_games: int | None = None) -> list[GameLog]:
    """Return the games of a record file, an archive or a folder of records (docs/records.md), in order.

    ``num_games``: maximum number of games, at least 1. Records that cannot be read are skipped with a UserWarning.
    ValueError if the file or folder does not exist or contains no game.

    >>> load_games("nowhere.mjlog")
    Traceback (most recent call last):
    ...
    ValueError: nowhere.mjlog: no such file or folder of records
    """
    quarantine = Quarantine()
    if num_games is not None and num_games < 1:
        raise ValueError(f"num_games is {num_games}: use 1 or more, or None for all")
    if not Path(path).exists():
        raise ValueError(f"{path}: no such file or folder of records")
    games = list(islice(iter_records([Path(path)], quarantine=quarantine), num_games))
    reasons = [f"{each.file}: {each.reason}; {each.remedy}" for each in quarantine.entries[:1]]
    if not games:
        raise ValueError(f"{path} has no game" + "".join(f": {reason}" for reason in reasons))
    if quarantine.count:
        warnings.warn(f"{quarantine.count:,} records were skipped, such as {reasons[0]}", stacklevel=2)
    return games


def save_games(games: Iterable[GameLog], path: str | Path, form: RecordForm = "mjlog") -> int:
    """Write games as mjlog, mjai or tenhou6, each into a file of the folder ``path``; return how many.

    A file that is there with another game stays: the new one gets a number behind its name. If the path has the name
    of a file, such as games.mjson or games.tsv.xz (docs/records.md), that is written instead. ValueError for another
    form, and for a game that the form cannot represent.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_games(simulate("tsumogiri", 2), folder, "mjai"), len(load_games(folder))
    (2, 2)
    """
    return write_records(games, Path(path), form)
