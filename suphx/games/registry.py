"""The games of the platform by name: what is known of them before they are loaded.

>>> find_game("doudizhu").title
'DouDizhu'
>>> load_game("doudizhu").seat_names
('landlord', 'landlord_down', 'landlord_up')
"""

from __future__ import annotations

import importlib
import os
import re
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

from suphx.games.game import CandidateGame, Game
from suphx.games.learning import DecisionKind, Learning
from suphx.games.scoring import MeasureName
from suphx.suggestion import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class GameEntry:
    """What is known of a game before it is loaded."""

    name: str
    title: str
    """As people write it."""
    module: str
    """Where ``GAME`` is."""
    names: str | None = None
    """Where ``ABOUT_AGENTS`` and ``DECISIONS`` are, a module without kernels; None: ``GAME`` has them only."""
    has_sides: bool = False
    """Two sides play against each other (``SideScoring``); else each of four seats plays for itself."""
    decides: MeasureName = "placement"
    """That of its scoring."""
    has_mjai: bool = False
    """Programs that speak mjai play it, and nets that adapt to each deal (``adapt:``)."""
    has_kernel_groups: bool = False
    """The groups ``NAME games`` and ``NAME nets`` of suphx/training/warmup.py compile what its games, nets and samples
    need; its ``kernel_groups`` name them."""
    record_mark: str | None = None
    """A regular expression that is found at the beginning of its files of records, and of no other game's."""


DEFAULT_GAME = "riichi"
"""The game of recipes and commands that name none."""

GAMES = {
    entry.name: entry
    for entry in (
        GameEntry(
            name=DEFAULT_GAME,
            title="riichi",
            module="suphx.games.riichi.game",
            names="suphx.games.riichi.names",
            has_mjai=True,
        ),
        GameEntry(
            name="doudizhu",
            title="DouDizhu",
            module="suphx.games.doudizhu.game",
            names="suphx.games.doudizhu.names",
            has_sides=True,
            decides="share",
            record_mark=r""""game"\s*:\s*"doudizhu"|^\s*landlord_down\s*:""",
        ),
        GameEntry(
            name="dazhong",
            title="Dazhong mahjong",
            module="suphx.games.dazhong.game",
            names="suphx.games.dazhong.names",
            has_kernel_groups=True,
            record_mark=r""""game"\s*:\s*"dazhong"|^game: dazhong$""",
        ),
        GameEntry(
            name="mcr",
            title="Chinese Official mahjong",
            module="suphx.games.mcr.game",
            names="suphx.games.mcr.names",
            decides="points",
            has_kernel_groups=True,
            record_mark=r""""game"\s*:\s*"mcr"|^Match \S*\s+Wind [0-3]$|"quan"\s*:|"Match \S*\\nWind [0-3]\\n"""
            r"""|"requests"\s*:\s*\[\s*"0 [0-3] [0-3]\"""",
        ),
    )
}


_NO_RECORDS = (".html", ".md")
_MAX_LOOKED_AT = 100
_GZIP = b"\x1f\x8b"
_BEGINNING = 8192
"""Bytes of a file of records that are searched for marks; a game of DouDizhu has about 1,000."""


def find_decisions(name: str) -> tuple[DecisionKind, ...]:
    """Return what nets decide in a game, without loading the rest of it if that is possible.

    >>> [kind.name for kind in find_decisions("riichi")]
    ['discard', 'riichi', 'chow', 'pong', 'kong']
    """
    module = find_game(name).names
    if module is None:
        return load_game(name).decisions
    kinds: tuple[DecisionKind, ...] = importlib.import_module(module).DECISIONS
    return kinds


def agent_names(name: str) -> tuple[str, ...]:
    """Return the names of the scripted agents of a game, the strongest last."""
    return tuple(about_agents(name))


def about_agents(name: str) -> dict[str, str]:
    """Return what each scripted agent of a game plays, the strongest last."""
    module = find_game(name).names
    if module is None:
        return dict.fromkeys(load_game(name).agents, f"plays {find_game(name).title}")
    about: dict[str, str] = importlib.import_module(module).ABOUT_AGENTS
    return about


def find_learning(name: str) -> Learning:
    """Return how nets see and learn a game; ValueError for a game that cannot be learned."""
    learning = load_game(name).learning
    if learning is None:
        raise ValueError(f"{find_game(name).title} cannot be learned: it has no nets")
    return learning


@cache
def decision_names(name: str) -> tuple[str, ...]:
    """Return the names of what nets decide in a game, in the order of their numbers."""
    return tuple(kind.name for kind in find_decisions(name))


def decision_numbers(names: Sequence[str], game: str) -> tuple[int, ...]:
    """Return the numbers of some decisions of a game, ascending; ValueError unless they are such, each once."""
    known = decision_names(game)
    if not names or len(set(names)) < len(names) or not set(known) >= set(names):
        raise ValueError(f"heads is {list(names)}: use one or more of {', '.join(known)}, each once")
    return tuple(sorted(known.index(name) for name in names))


def register(entry: GameEntry) -> None:
    """Add a game, such as one of another package; ValueError if there is one of that name from another module."""
    if GAMES.get(entry.name, entry) != entry:
        raise ValueError(f"there is a game {entry.name!r} already: choose another name")
    GAMES[entry.name] = entry


def find_game(name: str) -> GameEntry:
    """Return the entry of a game; ValueError if there is none of that name."""
    if name not in GAMES:
        raise ValueError(f"{name!r} is not a game: {did_you_mean(name, GAMES) or 'use ' + ' or '.join(GAMES)}".strip())
    return GAMES[name]


def has_candidates(name: str) -> bool:
    """Tell whether all nets of a game value lists of candidate moves."""
    kinds = find_decisions(name)
    return bool(kinds) and all(kind.has_candidates for kind in kinds)


def game_of_files(names: Iterable[str]) -> str | None:
    """Return the game that has all its nets among files of these ``names``; None if there is no such game."""
    found = set(names)
    own = {name: {f"{kind}.safetensors" for kind in decision_names(name)} for name in GAMES}
    return next((name for name, files in own.items() if files and files <= found), None)


def game_of_agents(name: str | None, agents: Iterable[str]) -> str:
    """Return the game ``name``; None: that of ``agents``, addresses, or the default if they tell none.

    Nets are in a folder or those below it, or are those of the registered model with the name of the game. The name of
    a scripted agent tells its game if one game has it, and not the default.
    """
    if name is not None:
        return name
    for address in agents:
        game = None
        if (model := re.match(r"models:/([^/@]+)[/@]", address)) is not None:
            game = model[1] if model[1] in GAMES else None
        elif Path(address).is_dir():
            game = game_of_files(path.name for path in (*Path(address).iterdir(), *Path(address).glob("*/*")))
        elif address not in agent_names(DEFAULT_GAME):
            found = [each for each in GAMES if address in agent_names(each)]
            game = found[0] if len(found) == 1 else None
        if game is not None:
            return game
    return DEFAULT_GAME


def game_of_records(path: Path) -> str:
    """Return the game of a file of records, or of a folder; the default if no mark is found.

    Of a folder, the files in the first place with any are looked at, as there may be others beside the records.
    """
    if path.is_file():
        return _game_of_file(path) or DEFAULT_GAME
    for place, folders, names in os.walk(path):
        folders.sort()
        shown = [name for name in names if not name.startswith(".") and not name.endswith(_NO_RECORDS)]
        files = [file for name in sorted(shown) if (file := Path(place) / name).is_file()]  # no pipes and lost links
        for file in files[:_MAX_LOOKED_AT]:
            with suppress(OSError):  # who reads the records says it
                if (game := _game_of_file(file)) is not None:
                    return game
        if files:
            break
    return DEFAULT_GAME


def _game_of_file(file: Path) -> str | None:
    """Return the game of a file of records; None if it has no mark."""
    with file.open("rb") as opened:
        beginning = opened.read(_BEGINNING)
    if beginning.startswith(_GZIP):
        with suppress(zlib.error):  # who reads the records says it
            beginning = zlib.decompressobj(wbits=31).decompress(beginning, _BEGINNING)
    text = beginning.decode("utf-8", errors="replace")
    marks = {name: entry.record_mark for name, entry in GAMES.items() if entry.record_mark is not None}
    return next((name for name, mark in marks.items() if re.search(mark, text, re.MULTILINE)), None)


def load_game(name: str) -> Game:
    """Return the ``GAME`` of a game; ValueError for an unknown one."""
    game: Game = importlib.import_module(find_game(name).module).GAME
    return game


def candidate_game(name: str) -> CandidateGame:
    """Return a game whose nets value candidate moves; ValueError for another one."""
    if not has_candidates(name):
        names = " or ".join(other for other in GAMES if has_candidates(other))
        raise ValueError(f"{find_game(name).title} has no candidate moves: use {names}")
    return cast("CandidateGame", load_game(name))
