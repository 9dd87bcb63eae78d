"""The records stage: games become a store that the supervised stages stream from.

Leaves ``store/`` (``RecordedSamples`` of suphx/games/learning.py) and ``summary.json`` (docs/result_files.md). For a
game with an archive it also leaves ``quarantine.jsonl`` and ``copies.json``: every game is replayed through the rules
first, and one that contradicts them is set aside, like one that cannot be read.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from suphx.games.registry import find_learning, load_game
from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.archive.record_writer import write_records
from suphx.games.riichi.archive.store import write_store
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.quarantine import DUPLICATE_RECORD, ILLEGAL_RECORD, Quarantine
from suphx.games.riichi.records.replay import Replayer
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.agents.checkpoint_folder import find_nets
from suphx.selfplay.rollouts.rollout import play_games
from suphx.training.head_data import recorded_samples
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


def records_stage(recipe: Recipe) -> Stage[Recipe]:
    """Return the stage."""
    return Stage(
        name="records",
        run=run,
        recipe_keys=("records",),
        reads_records=True,
        outside_files=lambda recipe: find_nets(recipe.records.player, recipe.game_name),
        artifacts=("*.json*",),
    )


def run(context: StageContext[Recipe]) -> dict[str, float]:
    """Store the given games, or those that the recipe's player plays against itself; ValueError without any."""
    has_archive = "archive" in find_learning(context.recipe.game_name).options
    counts, more = _store_checked(context) if has_archive else (_store_all(context), {})
    source = "played" if context.records is None else "given"
    write_json(context.folder / "summary.json", {"source": source, **counts, **more})
    return {name: float(count) for name, count in counts.items()} | {"played": float(source == "played")}


def first_record_seed(seed: int) -> int:
    """Return the seed of the first game that a run plays: above those of matches, apart from those of other runs."""
    return 2**61 + seed % 2**40 * 2**20


def _played(context: StageContext[Recipe], progress: Callable[[float], None]) -> Iterator[Any]:
    """Let the recipe's player play games against itself and yield their records."""
    config, game = context.recipe.records, load_game(context.recipe.game_name)
    seeds = range(first := first_record_seed(context.seed), first + config.played_games)
    seating = np.zeros((config.played_games, len(game.seat_names)), np.int64)
    agents = [load_agent(config.player, game=game.name)]
    return play_games(agents, seating, seeds, game.new_rules({}), game=game.name, progress=progress)


def _store_all(context: StageContext[Recipe]) -> dict[str, int]:
    """Store games as they are, and return how many games and deals there are."""
    config, game = context.recipe.records, load_game(context.recipe.game_name)
    total = config.played_games if context.records is None else None
    with context.console.progress("games", total, name="records") as progress:
        if context.records is None:
            games = _played(context, progress.advance)
        else:
            games = progress.count(game.read_records(context.records))
        wanted = islice(games, config.max_games or None)
        store = recorded_samples(game.name).write(wanted, context.folder / STORE_FOLDER)
    return {"games": len(store.game_ids), "kyoku": len(store.game_of_kyoku)}


def _store_checked(context: StageContext[Recipe]) -> tuple[dict[str, int], dict[str, Any]]:
    """Store the games that agree with the rules; return counts, and what was set aside and why."""
    config, source = context.recipe.records, context.records
    total = config.max_games or None
    if source is None:
        total = min(total or config.played_games, config.played_games)
        source = context.folder / "games"
        source.mkdir(exist_ok=True)
        word = load_game(context.recipe.game_name).scoring.games
        with context.console.progress(word, config.played_games, name="playing") as progress:
            write_records(_played(context, progress.advance), source / "games.tsv.xz", "mjlog")
    quarantine, replayer = Quarantine(), Replayer()
    counts = Counter(games=0, kyoku=0, decisions=0)
    copies: dict[str, str] = {}
    logs = iter_records([source], workers=usable_cores(), quarantine=quarantine)
    sound = sound_games(logs, replayer, quarantine, copies)

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
    entries = [asdict(entry) for entry in quarantine.entries[:MAX_SHOWN]]
    return {**counts, "quarantined": quarantine.count}, {"quarantine": entries}


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
