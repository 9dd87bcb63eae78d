"""Matches during self-play: the newest version against the nets that the run began with, and against the weak ones.

All checkpoints of a run play on the same walls, so that the luck of the walls does not look like a step of the curve.
The match at the end is longer, and it is played twice: the most probable actions of both sides, as in real games, and
sampled actions of both sides, as in self-play. The second one shows whether the policy that learns became stronger.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from suphx.evaluation.deal_match import DealReport, hanchans_of, play_deal_match
from suphx.evaluation.game_runner import GameRunner, Workers
from suphx.evaluation.kept_results import GAMES_FOLDER, RECORDS_FOLDER, KeptResults
from suphx.evaluation.match import MatchReport, MatchSetup, play_match
from suphx.evaluation.match_config import SEATS
from suphx.evaluation.measures import PLACEMENT, measure_of
from suphx.evaluation.statistics import PairedDifference, paired_difference
from suphx.games.registry import agent_names, find_learning, load_game
from suphx.games.riichi.match_tables import index_records
from suphx.games.scoring import MAX_DEAL_SEED
from suphx.selfplay.agents.checkpoint_folder import checkpoint_names
from suphx.selfplay.backend import Backend
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx_platform.console.table_text import count_text

START_FOLDER = "start"
_logger = logging.getLogger(__name__)
Policy = Literal["argmax", "sampled"]
"""How both sides of a match act: the most probable action, or one that is drawn as in self-play."""
Tell = Callable[[str, float], None]
"""Gets a short text about the match that is played, and how many hanchans were played since the last call."""


@dataclass(frozen=True, slots=True)
class MatchOutcome:
    """What came of a match."""

    match: MatchReport
    deals: DealReport | None
    """Of the same agents; None if no deals were wanted."""
    records: str | None = None
    """The folder with the match's games, as seen from that of the nets; None if they were not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchOrder:
    """The description of one match; ``play`` plays it."""

    folder: Path
    """Has the candidate's checkpoints, and those of the opponents in ``start``."""
    opponent: str
    """start, weak, or the name of a scripted agent."""
    policy: Policy
    num_hanchans: int
    num_deals: int
    """Paired deals in addition, about; 0 = none."""
    seed: int
    workers: int
    game: str
    keeps_games: bool = False
    """The folder keeps parts of the match, so that a match that was killed continues, and records of its games."""

    def play(
        self, progress: Callable[[float], None] = lambda hanchans: None, *, other_workers: Workers | None = None
    ) -> MatchOutcome:
        """Play it in processes here, or with ``other_workers``; ``progress`` is called with parts of hanchans."""
        candidate, opponent = self._addresses()
        kept = KeptResults(self.folder / GAMES_FOLDER / self._digest()) if self.keeps_games else None
        keeps_records = self.keeps_games and "archive" in find_learning(self.game).options
        records = self.folder / RECORDS_FOLDER / self._digest() if keeps_records else None
        setup = MatchSetup(candidate, opponent, seed=self.seed, game=self.game)
        workers = self.workers if other_workers is None else other_workers
        runner = GameRunner(workers=workers, kept=kept, records=records, progress=progress)
        match = play_match(setup, self.num_hanchans, runner=runner)
        place = None
        if records is not None:
            index_records(records)
            place = records.relative_to(self.folder).as_posix()
        if not self.num_deals:
            return MatchOutcome(match, None, place)
        deals = play_deal_match(setup, self.num_deals, runner=replace(runner, records=None))
        return MatchOutcome(match, deals, place)

    def files(self) -> dict[str, bytes]:
        """Return the checkpoints that it needs by their path in the folder, for another machine."""
        names = list(checkpoint_names(game=self.game))
        if self.opponent not in agent_names(self.game):
            weak = self.opponent == "weak"
            names += [f"{START_FOLDER}/{name}" for name in checkpoint_names(is_weak=weak, game=self.game)]
        return {name: (self.folder / name).read_bytes() for name in names}

    def _addresses(self) -> tuple[str, str]:
        if self.opponent in agent_names(self.game):
            return str(self.folder), self.opponent
        start = f"{self.folder / START_FOLDER}"
        if self.policy == "sampled":
            return f"{self.folder}:sampled", f"{start}:{'weak,' if self.opponent == 'weak' else ''}sampled"
        return str(self.folder), f"{start}:weak" if self.opponent == "weak" else start

    def _digest(self) -> str:
        """Return a name that no match of other nets, walls or policies has."""
        whole = hashlib.sha256(f"{self.opponent} {self.policy} {self.seed}".encode())
        for name, content in sorted(self.files().items()):
            whole.update(name.encode() + hashlib.sha256(content).digest())
        return whole.hexdigest()[:16]


class SelfPlayMatches:
    """Consumes: checkpoints in a folder. Produces: entries for ``matches`` of
    metrics.json. Waits for: matches, if asked.

    >>> matches = SelfPlayMatches(config, folder, has_weak=True, seed=1)
    >>> matches.begin(backend, 100, tell=print)  # after 100 updates
    >>> for entry in matches.ended([]):
    ...     print(entry["opponent"], entry["difference"])
    """

    def __init__(self, config: ReinforcementConfig, folder: Path, *, has_weak: bool, seed: int) -> None:
        """``seed``: of the run; the walls of all its matches follow from it."""
        self._config = config
        self._folder = folder
        self._seed = seed % MAX_DEAL_SEED
        self._opponents = ("start", "weak") if has_weak and config.evaluation_weak else ("start",)
        self._open: list[tuple[int, bool, MatchOrder, Future[MatchOutcome]]] = []

    def begin(
        self,
        player: Backend,
        updates: int,
        *,
        tell: Tell,
        is_final: bool = False,
        earlier: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Have ``player`` play the newest checkpoints in the folder, those after ``updates``; ``is_final``: at the end.

        Matches among the ``earlier`` entries are not repeated.
        """
        for order in self._missing(updates, earlier, is_final=is_final):
            future = player.play_match(order, _progress(order, updates, tell))
            self._open.append((updates, is_final, order, future))

    def ended(self, earlier: Sequence[Mapping[str, Any]], *, waits: bool = False) -> list[dict[str, Any]]:
        """Return the matches that ended since the last call, in the order of their beginning; ``waits`` for all.

        ``earlier``: entries of the run so far, with which the new ones are compared.
        """
        entries: list[dict[str, Any]] = []
        while self._open and (waits or self._open[0][3].done()):
            updates, is_final, order, future = self._open.pop(0)
            try:
                outcome = future.result()
            except InterruptedError:  # the run is to stop: the one that resumes plays the match
                if is_final:
                    raise
                continue
            except ChildProcessError as error:
                if is_final:
                    raise
                _logger.warning(
                    "the match after %s was lost, self-play continues: %s", count_text(updates, "update"), error
                )
                continue
            entry = _entry(updates, order, outcome) | {"is_final": is_final}
            entries.append(entry | _change(entry, [*earlier, *entries]))
        return entries

    def is_missing(self, updates: int, earlier: Sequence[Mapping[str, Any]]) -> bool:
        """Tell whether a match during the run after ``updates`` updates is not among the ``earlier`` entries."""
        return bool(self._missing(updates, earlier, is_final=False))

    def _missing(self, updates: int, earlier: Sequence[Mapping[str, Any]], *, is_final: bool) -> list[MatchOrder]:
        """Return the matches after ``updates`` updates that are not among the ``earlier`` entries."""
        names = ("updates", "opponent", "policy", "is_final")
        played = {tuple(entry[name] for name in names) for entry in earlier}
        orders = self._orders(is_final=is_final)
        return [order for order in orders if (updates, order.opponent, order.policy, is_final) not in played]

    @property
    def playing_updates(self) -> list[int]:
        """Updates after which matches were begun that are still played, or wait for their turn, in their order."""
        return [updates for updates, _, _, future in self._open if not future.done()]

    @property
    def open_updates(self) -> list[int]:
        """Updates after which matches were begun that ``ended`` has not returned yet, in the order of matches."""
        return [updates for updates, *_ in self._open]

    def num_hanchans(self, *, is_final: bool) -> int:
        """Return how many hanchans the matches of ``begin`` have together, those of their deals included."""
        orders = self._orders(is_final=is_final)
        return sum(each.num_hanchans + (hanchans_of(each.num_deals) if each.num_deals else 0) for each in orders)

    def _orders(self, *, is_final: bool) -> list[MatchOrder]:
        config = self._config
        last = config.final_hanchans or config.evaluation_hanchans
        orders = [
            MatchOrder(
                folder=self._folder,
                opponent=opponent,
                policy="argmax",
                num_hanchans=last if is_final and opponent == "start" else config.evaluation_hanchans,
                num_deals=config.evaluation_deals if opponent == "start" else 0,
                seed=self._seed,
                workers=config.evaluation_workers,
                game=config.game,
                keeps_games=is_final,
            )
            for opponent in self._opponents
        ]
        if is_final and config.final_sampled:
            orders.append(replace(orders[0], policy="sampled", num_deals=0))
        if is_final and config.final_opponent:
            orders.append(replace(orders[0], opponent=config.final_opponent, num_deals=0))
        return orders


def _progress(order: MatchOrder, updates: int, tell: Tell) -> Callable[[float], None]:
    """Return what tells how many hanchans of a match are over, and then how many of its paired deals."""
    played = 0.0
    opponent = order.opponent if order.policy == "argmax" else f"sampled {order.opponent}"
    about, games = f"after {count_text(updates, 'update')} ({opponent})", load_game(order.game).scoring.games

    def add(hanchans: float) -> None:
        nonlocal played
        played += hanchans
        of_deals = played - order.num_hanchans
        if of_deals <= 0 or not order.num_deals:
            text = f"match {about}: {played:,.0f} of {order.num_hanchans:,} {games}"
        else:
            deals = order.num_deals * of_deals / hanchans_of(order.num_deals)
            text = f"paired deals {about}: {deals:,.0f} of about {order.num_deals:,} deals"
        tell(text, hanchans)

    return add


def _entry(updates: int, order: MatchOrder, outcome: MatchOutcome) -> dict[str, Any]:
    match, deals = outcome.match, outcome.deals
    entry = {
        "updates": updates,
        "opponent": order.opponent,
        "policy": order.policy,
        "hanchans": match.games,
        "average_placement": match.statistics.average_placement,
        **_figures(match.deciding_difference),
        "placements": "".join(map(str, match.placements)),
    }
    if match.decides != PLACEMENT.name:
        entry |= {"decides": match.decides, "points": list(match.own_points)}
    if outcome.records is not None:
        entry["records"] = outcome.records
    if deals is not None:
        entry["deals"] = {"number": deals.deals, "changed_share": deals.changed_share, **_figures(deals.difference)}
    return entry


def _change(entry: Mapping[str, Any], earlier: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return ``change``: the difference to the last match of earlier nets against the same opponent, on its walls."""
    same = [
        each
        for each in earlier
        if each["updates"] < entry["updates"] and all(each[name] == entry[name] for name in ("opponent", "policy"))
    ]
    if not same:
        return {}
    before = same[-1]
    games = min(entry["hanchans"], before["hanchans"])
    outcomes = "placements" if measure_of(entry) is PLACEMENT else "points"
    now, then = (np.array(list(each[outcomes][:games]), np.float64) for each in (entry, before))
    difference = paired_difference(now, then, np.repeat(np.arange(games // SEATS), SEATS))
    return {"change": {"since": before["updates"], **_figures(difference)}}


def _figures(difference: PairedDifference) -> dict[str, Any]:
    interval = difference.interval
    return {"difference": difference.mean, "interval": [interval.low, interval.high], "is_widened": interval.is_widened}


def match_figures(entry: Mapping[str, Any]) -> dict[str, float]:
    """Return the figures of an entry by name, such as ``start_difference_low`` or ``start_sampled_difference``."""
    name = entry["opponent"] if entry["policy"] == "argmax" else f"{entry['opponent']}_{entry['policy']}"
    low, high = entry["interval"]
    figures = {
        f"{name}_difference": entry["difference"],
        f"{name}_difference_low": low,
        f"{name}_difference_high": high,
        f"{name}_hanchans": entry["hanchans"],
    }
    if "deals" in entry:
        low, high = entry["deals"]["interval"]
        figures |= {
            f"{name}_points_per_kyoku": entry["deals"]["difference"],
            f"{name}_points_per_kyoku_low": low,
            f"{name}_points_per_kyoku_high": high,
            f"{name}_deals": entry["deals"]["number"],
        }
    return {key: float(value) for key, value in figures.items()}
