"""A review of recorded games: which of them the agent has learned from, what it would do, and the files of it.

The page has agreement by group, and the decisions in which the agent differs, with links to the games.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np

from suphx.atomic_file import many_files, write_atomically
from suphx.evaluation.decision_cost import CostJudge
from suphx.evaluation.review import (
    ReviewedDecision,
    ReviewedGame,
    agreement_table,
    cost_summary,
    costliest_differences,
    largest_differences,
    review_game,
)
from suphx.games.game import Agent
from suphx.games.registry import agent_names
from suphx.games.riichi.records.decisions import recorded_decisions
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.quarantine import ILLEGAL_RECORD, Quarantine
from suphx.selfplay.agents.checkpoint_folder import split_address
from suphx.training.head_data import open_store, split_by_game
from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.recipe.recipe_file import load_config
from suphx_pipelines.report import report_page
from suphx_pipelines.runs.run_list import find_run
from suphx_pipelines.runs.run_origin import RECIPE_FILE
from suphx_pipelines.stages.records import COPIES_FILE, STORE_FOLDER
from suphx_pipelines.viewer.viewer_page import viewer_page

_RECORDS = "records"
_NUM_PAGES = 10
"""Games with a page of their own."""
_NUM_DIFFERENCES = 50


@dataclass(frozen=True, slots=True)
class TrainingGames:
    """The games of records that a run learned from, and those that it kept for its test."""

    learned: frozenset[str] = frozenset()
    """Ids of the games for training and validation."""
    test: frozenset[str] = frozenset()
    """Ids of the games for the test."""

    def is_held_out(self, game_id: str) -> bool:
        """Tell whether the run has not learned from the game: it is of the test, or not among the run's records."""
        return game_id not in self.learned


def run_of_nets(nets: Path) -> Path | None:
    """Return the folder of the run that has the folder ``nets``; None if it is not in a run."""
    folders = nets.resolve().parents
    return next((folder for folder in folders if (folder / RECIPE_FILE).is_file()), None)


def games_of_run(run: Path) -> TrainingGames:
    """Return the games that the run in the folder ``run`` learned from, split as for its training.

    A run without a records stage has learned from none. ValueError if its recipe or its games cannot be read, or its
    nets began as those of another run.
    """
    recipe = load_config(Recipe, run / RECIPE_FILE)
    if recipe.initial_agent:
        raise ValueError(f"it began with the nets of {recipe.initial_agent}; name the run that trained these")
    if recipe.reinforcement.start == "random" and not (run / _RECORDS).is_dir():
        return TrainingGames()
    store = open_store(run / _RECORDS / STORE_FOLDER, "riichi")
    ids = np.array(store.game_ids)
    split = split_by_game(store.game_ids, np.arange(store.num_games), recipe.split)
    learned = set(ids[np.concatenate([split.train, split.validation])].tolist())
    path = run / _RECORDS / COPIES_FILE
    copies = read_json(path) if path.is_file() else {}  # an earlier version has none
    learned |= {copy for copy, stored in copies.items() if stored in learned}
    return TrainingGames(frozenset(learned), frozenset(ids[split.test].tolist()))


def games_of_agent(
    address: str, trained_in: str | None, *, runs: Path, only_held_out: bool
) -> tuple[str | None, TrainingGames | None]:
    """Return the run of the agent at ``address``, and which games it learned from; (None, None) if that is not known.

    ``trained_in``: the run, an id or a folder, if it is not the one whose folder has the nets. ValueError if that run,
    or ``only_held_out`` games, are asked for and the games are not known.
    """
    location, _ = split_address(address)
    if location in agent_names("riichi"):
        return None, TrainingGames()
    if trained_in is not None:
        run: Path | None = find_run(runs, trained_in).folder
    else:
        run = run_of_nets(Path(location)) if Path(location).is_dir() else None
    if run is not None:
        try:
            return run.name, games_of_run(run)
        except ValueError as error:
            if only_held_out or trained_in is not None:
                raise ValueError(f"the games that {run} learned from are not known: {error}") from error
    elif only_held_out:
        raise ValueError(
            f"--held-out: {address} is not in the folder of a run, so its training games are not known: name the "
            "run with --trained-in RUN"
        )
    return None, None


def held_out_games(
    logs: Sequence[GameLog], run: str | None, games: TrainingGames | None
) -> tuple[dict[str, object], str, str]:
    """Return how many of the games the agent has not learned from: for scripts, in a sentence, and a hint if not all.

    ``run``: the run whose ``games`` are known; None for a scripted agent, which has learned from no game.
    """
    if games is None:
        note = (
            "It is not known whether the nets have learned from these games. If they have, the agreement is higher "
            "than on new games."
        )
        hint = "Name the run that trained the nets: --trained-in RUN."
        return {"run": None, "games": None, "test_games": 0}, note, hint
    ids = [log.id for log in logs if games.is_held_out(log.id)]
    from_test, hint = sum(each in games.test for each in ids), ""
    note = "The agent has learned from no records."
    if run is not None:
        note = f"{len(ids):,} of {len(logs):,} games are held out: the run {run} has not learned from them"
        note += f" ({from_test:,} of them are its test games)."
    if len(ids) < len(logs):
        note += " On the others the agreement is higher than on new games."
        hint = "To review other games, add --held-out."
    return {"run": run, "games": len(ids), "test_games": from_test}, note, hint


def allowed_games(records: Iterable[GameLog], quarantine: Quarantine) -> Iterator[GameLog]:
    """Yield the games whose moves the rules allow, and set the others aside: before the agent is asked for hours."""
    for log in records:
        try:
            recorded_decisions(log)
        except ValueError as error:
            quarantine.add(*log.place(""), str(error), kind=ILLEGAL_RECORD)
        else:
            yield log


def seats_of(log: GameLog, player: str | None) -> tuple[int, ...]:
    """Return the seats of the player, of whom a match of agents may have several; none if they are not in this game."""
    named = tuple(seat for seat, name in enumerate(log.names) if name == player)
    return named or ((int(player) - 1,) if player in ("1", "2", "3", "4") else ())


def review_games(
    logs: Sequence[GameLog],
    agent: Agent,
    player: str | None,
    judge: CostJudge | None,
    progress: Callable[[float], None],
) -> list[tuple[GameLog, ReviewedGame]]:
    """Ask the agent about each decision of ``player`` (None: of all), game by game; games get ids of their own."""
    used: set[str] = set()
    games = []
    for log in logs:
        # files of the same name in different folders have the same id: the others get a number behind it
        numbered = chain((log.id,), (f"{log.id} [{again}]" for again in count(2)))
        log = replace(log, id=next(each for each in numbered if each not in used))
        used.add(log.id)
        games.append((log, review_game(log, agent, seats_of(log, player), judge, progress)))
    return games


def write_review(
    folder: Path,
    address: str,
    games: Sequence[tuple[GameLog, ReviewedGame]],
    *,
    player: str | None,
    held_out: Mapping[str, object],
    note: str,
    judge: CostJudge | None,
    samples: int,
) -> dict[str, object]:
    """Write review.html, review.json and the pages of the first games; return what the command prints.

    ``samples``: of ``judge``, which has estimated the costs of differences.
    """
    decisions = [decision for _, game in games for decision in game.decisions]
    table = agreement_table(decisions)
    cost = None if judge is None else cost_summary(decisions, judge.unit, samples)
    choose = largest_differences if cost is None else costliest_differences
    files: dict[str, str] = {}
    pages: dict[str, str] = {}
    for number, (log, game) in enumerate(games[:_NUM_PAGES], 1):
        name = re.sub(r"[^\w.-]+", "-", log.id)
        pages[log.id] = f"{number}-{name}.html"
        values, (seat, *_) = {**game.values, "agent": address}, seats_of(log, player) or (0,)
        files[pages[log.id]] = viewer_page(values, title=log.id, seat=seat)
    shown = choose(decisions, _NUM_DIFFERENCES)
    files["review.html"] = review_page(address, decisions, shown, pages, cost, note=note)
    rows = [asdict(one) | {"cost": one.cost and one.cost.to_json()} for one in decisions]
    head = {"agent": address, "held_out": held_out, "groups": table, "cost": cost}
    folder.mkdir(parents=True, exist_ok=True)
    with many_files(folder) as written:
        write_json(folder / "review.json", head | {"decisions": rows})
        written.append(folder / "review.json")
        for name, page in files.items():
            write_atomically(folder / name, [page.encode()])
            written.append(folder / name)
    return {
        "games": len(games),
        "decisions": len(decisions),
        "held_out": held_out,
        "agreement": table[0]["agreement"] if table else None,
        "groups": table,
        "cost": cost,
        "page": str(folder / "review.html"),
    }


def review_page(
    agent: str,
    decisions: Sequence[ReviewedDecision],
    differences: Sequence[ReviewedDecision],
    pages: Mapping[str, str],
    cost: Mapping[str, Any] | None = None,
    *,
    note: str = "",
) -> str:
    """Return one HTML page; ``pages``: file name of a game's viewer page beside it, by the game's id.

    ``cost``: the ``cost_summary`` of the decisions, if costs were estimated; then the differences are the costliest.
    ``note``: a sentence below the title, such as how many games are held out.
    """
    shown = report_page.sections(
        "review", groups=agreement_table(decisions), differences=differences, pages=pages, cost=cost
    )
    games = len({one.game for one in decisions})
    head = f"<p>{html.escape(note)}</p>\n" if note else ""
    return report_page.page(f"Review by {agent}", f"{games:,} games", head, shown)
