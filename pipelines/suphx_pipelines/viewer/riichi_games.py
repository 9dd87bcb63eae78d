"""Riichi in the viewer: what an agent thinks of a game, and the candidate's best and worst games of a match.

>>> match_pages(stage_folder / "records", agent, folder, name="new nets", opponent="ukeire", title="nightly: a game")
{"opponent": "ukeire", "hanchans": 12, "games": [{"page": "game_best_1.html", "kind": "best", "places": [1], ...}]}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from suphx.atomic_file import write_atomically
from suphx.evaluation.match import AGENT_NAMES
from suphx.evaluation.sequential import FRESH_FOLDER
from suphx.games.game import Agent
from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.match_tables import first_seating, index_records, indexed_tables, remove_after
from suphx.games.riichi.records.decisions import Opinions, recorded_decisions
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.records.viewer_game import viewer_game
from suphx.games.riichi.table import places_of_scores
from suphx.selfplay.agents.opinion import agent_opinions
from suphx_pipelines.viewer.viewer_page import viewer_page
from suphx_platform.console.console import Console

MAX_GAMES = 2_000
"""Games of a match among which the best and the worst are searched: reading these takes about ten seconds."""
PAGES = "game_*.html"
"""The pages in a stage's folder."""
NUM_EACH = 2


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A recorded game of the candidate."""

    log: GameLog
    seats: tuple[int, ...]
    """Of the candidate, ascending."""
    places: tuple[int, ...]
    """1-4, of these seats."""
    points: tuple[int, ...]
    """At the end, of these seats."""

    @property
    def rank(self) -> tuple[int, int]:
        """The order of games: better places first, more points first."""
        return sum(self.places), -sum(self.points)


def shown_opinions(agent: Agent, game: GameLog, console: Console) -> Opinions:
    """Return what ``agent`` would do at each decision of ``game``; ValueError when its moves contradict the rules."""
    decisions = recorded_decisions(game)
    with console.progress("decisions", len(decisions.tables), name="asking the agent") as progress:
        return agent_opinions(agent, decisions, progress=progress.advance)


def game_page(game: GameLog, opinions: Opinions, title: str) -> str:
    """Return the page of ``game`` with what an agent would do."""
    return viewer_page(viewer_game(game, opinions), title=title)


def tidy_records(records: Path, num_deals: int) -> None:
    """Remove the records of games that had begun before a match was decided by ``num_deals``, and index the others."""
    remove_after(records, num_deals)
    for folder in (records, records / FRESH_FOLDER):
        index_records(folder)


def choose_games(records: Path, num_each: int = NUM_EACH) -> tuple[dict[str, list[PlayedGame]], int]:
    """Return ``best`` and ``worst`` games of a match whose records are in a folder, and among how many they are.

    The best and the worst ones come first. Of equal games the first ones count, and no game is both. There are none if
    no records were kept. Of a match in several seatings, those of one candidate against three count: its place is that
    of one seat.
    """
    best: list[PlayedGame] = []
    worst: list[PlayedGame] = []
    hanchans = 0
    for game in _played_games(first_seating(indexed_tables(records))):
        hanchans += 1
        best = sorted([*best, game], key=lambda each: each.rank)[: 2 * num_each]
        worst = sorted([*worst, game], key=lambda each: [-value for value in each.rank])[: 2 * num_each]
    best = best[: min(num_each, (hanchans + 1) // 2)]
    shown = {game.log.id for game in best}
    return {"best": best, "worst": [game for game in worst if game.log.id not in shown][:num_each]}, hanchans


def match_pages(
    records: Path, agent: Agent, folder: Path, *, name: str, opponent: str, title: str, num_each: int = NUM_EACH
) -> dict[str, Any]:
    """Write the pages of games of a match into ``folder``, and return what reports show of them.

    Each page shows what ``agent``, called ``name``, thinks of the candidate's own decisions, and only of these: a page
    with everybody's is more than twice as large. Its opponents are called ``opponent``, with a number.
    """
    chosen, hanchans = choose_games(records, num_each)
    shown: list[dict[str, Any]] = []
    for kind, games in chosen.items():
        for number, game in enumerate(games, 1):
            names = [""] * 4  # several of a side have numbers
            others = [seat for seat in range(4) if seat not in game.seats]
            for side, text in ((game.seats, name), (others, opponent)):
                for place, seat in enumerate(side, 1):
                    names[seat] = f"{text} {place}" if len(side) > 1 else text
            first, second, third, fourth = names
            log = replace(game.log, names=(first, second, third, fourth))
            opinions = replace(agent_opinions(agent, recorded_decisions(log), game.seats), name=name)
            values = viewer_game(log, opinions, game.seats)
            file = PAGES.replace("*", f"{kind}_{number}")
            write_atomically(folder / file, [viewer_page(values, title=title, seat=game.seats[0]).encode()])
            shown.append({"page": file, "kind": kind, "places": list(game.places), "points": list(game.points)})
    return {"opponent": opponent, "hanchans": hanchans, "games": shown}


def _played_games(tables: Sequence[Path]) -> Iterator[PlayedGame]:
    """Yield the games of tables with the candidate's seats, as far as they have an end."""
    if not tables:
        return
    for log in islice(iter_records(tables, quarantine=Quarantine()), MAX_GAMES):
        seats = tuple(seat for seat, player in enumerate(log.names) if player == AGENT_NAMES[0])
        if log.final_scores is None or not seats:
            continue
        places = places_of_scores(np.array([log.final_scores], np.int32))[0]
        points = tuple(log.final_scores[seat] for seat in seats)
        yield PlayedGame(log, seats, tuple(int(places[seat]) for seat in seats), points)
