"""The records stage: games become a store that the supervised stages stream from.

Leaves ``store/`` (suphx.games.riichi.archive.store), ``quarantine.jsonl`` and ``summary.json``
(docs/result_files.md). Every game is replayed through the rules first: one that contradicts them is set aside, like one
that cannot be read.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.archive.record_writer import write_records
from suphx.games.riichi.archive.store import write_store
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.quarantine import DUPLICATE_RECORD, ILLEGAL_RECORD, Quarantine
from suphx.games.riichi.records.replay import Replayer
from suphx.games.riichi.rules import tenhou
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.agents.checkpoint_folder import find_nets
from suphx.selfplay.rollouts.rollout import play_games
from suphx.usable_cores import usable_cores
from suphx_pipelines.json_file import write_json
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.runs.stage import Stage, StageContext

STORE_FOLDER = "store"
COPIES_FILE = "copies.json"
MAX_SHOWN = 50


class _Place(NamedTuple):
    """The name of a game, and where it was read."""

    id: str
    source: str
    position: str


def records_stage() -> Stage[Recipe]:
    """Return the stage."""
    return Stage(
        name="records",
        run=run,
        recipe_keys=("records",),
        reads_records=True,
        outside_files=player_nets,
        artifacts=("*.json*",),
    )


def player_nets(recipe: Recipe) -> list[Path]:
    """Return the checkpoints of the player, none of a scripted agent; ValueError if one is missing."""
    return find_nets(recipe.records.player, recipe.game_name)


def run(context: StageContext[Recipe]) -> dict[str, float]:
    """Read the game records, or play games of a scripted agent, for the nets to learn from; ValueError without any."""
    source = context.records or play_records(context)
    quarantine = Quarantine()
    replayer = Replayer()
    counts = Counter(games=0, kyoku=0, decisions=0)
    logs = iter_records([source], workers=usable_cores(), quarantine=quarantine)
    copies: dict[str, str] = {}
    sound = sound_games(logs, replayer, quarantine, copies)
    config = context.recipe.records
    total = config.max_games or None
    if context.records is None:
        total = min(total or config.played_games, config.played_games)

    def counted(games: Iterable[GameLog]) -> Iterator[GameLog]:
        for log in games:  # which ``replayer`` has just replayed
            counts.update(games=1, kyoku=len(log.kyokus), decisions=replayer.num_decisions)
            yield log

    with context.console.progress("games", total, name="checking") as progress:
        games = progress.count(islice(sound, config.max_games or None))
        write_store(counted(games), context.folder / STORE_FOLDER)
    if not counts["games"]:
        reason = "it holds no records"
        if quarantine.entries:
            first = quarantine.entries[0]
            reason = f"the first of {quarantine.count:,} that were set aside: "
            reason += f"{first.file}, {first.position}: {first.reason}"
        raise ValueError(f"{source} has no usable game: {reason}")
    quarantine.write(context.folder / "quarantine.jsonl")
    write_json(context.folder / COPIES_FILE, copies)
    figures = {**counts, "quarantined": quarantine.count}
    entries = [asdict(entry) for entry in quarantine.entries[:MAX_SHOWN]]
    write_json(
        context.folder / "summary.json",
        {"source": "given" if context.records else "played", **figures, "quarantine": entries},
    )
    return {name: float(value) for name, value in figures.items()} | {"played": float(context.records is None)}


def first_record_seed(seed: int) -> int:
    """Return the seed of the first game that a run plays: above those of matches, apart from those of other runs."""
    return 2**61 + seed % 2**40 * 2**20


def play_records(context: StageContext[Recipe]) -> Path:
    """Let the recipe's player play games against itself and return the folder of their records (mjlog in a table)."""
    config = context.recipe.records
    agent = load_agent(config.player)
    seating = np.zeros((config.played_games, 4), np.int64)
    first = first_record_seed(context.seed)
    seeds = range(first, first + config.played_games)
    folder = context.folder / "games"
    folder.mkdir(exist_ok=True)
    with context.console.progress("hanchans", config.played_games, name="playing") as progress:
        games = play_games([agent], seating, seeds, tenhou(), progress=progress.advance)
        write_records(games, folder / "games.tsv.xz", "mjlog")
    return folder


def sound_games(
    logs: Iterable[GameLog], replayer: Replayer, quarantine: Quarantine, copies: dict[str, str]
) -> Iterator[GameLog]:
    """Pass on the games that agree with the rules, each once; set the others aside.

    Games are the same if their deals have the same tiles and moves, whatever the names of their files. ``copies`` gets
    the ids of those that are left out for that: id -> id of the game that was passed on.
    """
    seen: dict[bytes, _Place] = {}  # the only thing that grows with the number of games: about 400 bytes each
    for log in logs:
        content = log.content_digest()
        if content in seen:
            stored = seen[content]
            copies[log.id] = stored.id
            where = ", ".join(filter(None, (stored.source or stored.id, stored.position)))
            reason = f"the same game was already there ({where})"
            quarantine.add(*log.place("whole game"), reason, kind=DUPLICATE_RECORD)
            continue
        differences = replayer.replay(log)
        if differences:
            first = differences[0]
            place = log.place(f"kyoku {first.kyoku}, step {first.step}")
            quarantine.add(*place, first.what, kind=ILLEGAL_RECORD)
        else:  # a copy of a game that the rules contradict, in its scores for example, may be sound
            seen[content] = _Place(log.id, sys.intern(log.source), log.source_position)
            yield log
