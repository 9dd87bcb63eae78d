"""What one player did over many recorded games: placements, wins, deal-ins, riichi and calls (table 5), stable rank.

Rates are per kyoku, draws included. A double ron is two wins and two deal-ins, so that a table's deal-ins are its wins
by ron; ``deal_in_kyoku_rate`` counts it once. Points of a win are those of the hand, without honba and sticks; whoever
pays for pao does not deal in unless the tile was theirs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suphx.evaluation.stable_rank import F64, rank_terms, ranks_of
from suphx.evaluation.statistics import (
    LEVEL,
    Interval,
    average_placement,
    cluster_sums,
    expanded_level,
    percentile_interval,
    resample_sums,
    stable_rank_interval,
)
from suphx.games.game import Game
from suphx.games.registry import DEFAULT_GAME, load_game
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.statistics import STATISTICS_COLUMNS as STATISTICS_COLUMNS
from suphx.games.riichi.records.statistics import STATISTICS_RATIOS as STATISTICS_RATIOS
from suphx.games.scoring import PLACE_COUNTERS

_MAX_NAMES_SHOWN = 5
_MIN_INDEPENDENT = 2
"""Games or walls: one alone says nothing of how much results scatter."""

PLACE_COLUMN = PLACE_COUNTERS.index("place")


@dataclass(frozen=True, slots=True, kw_only=True)
class TenhouRank:
    """The stable rank of a player over the games in Tenhou's rooms, each with the points of its room and length."""

    rooms: dict[str, int]
    """Games in each room; other games have no part in the rank."""
    stable_rank: float
    """In dan; nan without such a game, and infinite without a fourth place."""
    interval: Interval

    @classmethod
    def of(cls, logs: Sequence[tuple[str, int, Sequence[int]]]) -> TenhouRank:
        """Return that of games: room ("" elsewhere), winds, and how often the player came first to fourth."""
        games = [(room, num_winds, counts) for room, num_winds, counts in logs if room]
        parts = [
            rank_terms(np.array([counts]), room, "tonpuu" if num_winds == 1 else "hanchan")
            for room, num_winds, counts in games
        ]
        terms = np.concatenate([np.zeros((0, 2)), *parts])
        rank = float(ranks_of(terms.sum(axis=0, keepdims=True))[0])
        rooms = Counter(room for room, _, _ in games)
        return cls(rooms=dict(sorted(rooms.items())), stable_rank=rank, interval=stable_rank_interval(terms))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerStatistics:
    """Numbers of one player; each ratio has its 95% interval (bootstrap over games, or walls) in ``intervals``.

    A ratio with nothing to divide by (no wins, no draws), one that the game does not count, and each interval of one
    game or wall alone, is nan here and null in JSON.
    """

    player: str
    games: int
    unfinished_games: int
    """Games without a final score: they are in no other number."""
    kyoku: int
    placements: tuple[int, int, int, int]
    average_placement: float
    win_rate: float
    deal_in_rate: float
    """Wins by ron on this player's tiles for each kyoku."""
    deal_in_kyoku_rate: float
    """Share of kyoku that ended with this player's tile."""
    riichi_rate: float
    """Share of kyoku with a riichi declared, whether or not its discard was ronned."""
    call_rate: float
    """Share of kyoku with at least one chi, pon or open kan."""
    tenpai_at_draw_rate: float
    """Share of exhaustive draws with a tenpai hand; those that end with a nagashi mangan do not count."""
    average_win: float
    average_deal_in: float
    average_win_turn: float
    """Own discards before the win, and one more for a self-drawn win."""
    intervals: dict[str, Interval]
    own: dict[str, float] = field(default_factory=dict)
    """Ratios that only this game has (``Scoring.ratios``)."""
    tenhou: TenhouRank | None = None
    """None of a match of agents."""

    def to_json(self) -> dict[str, object]:
        """Return plain JSON values: intervals as [low, high], infinite and missing numbers as null."""
        values: dict[str, object] = {name: _plain(value) for name, value in asdict(self).items()}
        del values["tenhou"], values["own"]
        values |= {name: _plain(value) for name, value in self.own.items()}
        if self.tenhou is not None:
            values["stable_rank"] = _plain(self.tenhou.stable_rank)
            values["stable_rank_interval"] = self.tenhou.interval.to_json()
            values["rooms"] = self.tenhou.rooms
        values["intervals"] = {name: interval.to_json() for name, interval in self.intervals.items()}
        return values


def player_statistics(records: Iterable[Any], player: str, *, game: Game | None = None) -> PlayerStatistics:
    """Return the statistics of ``player`` over the games that have that name at a seat; ``records`` is read once.

    ``game``: whose records these are; None: of the usual one. A name at several seats of a game counts as one player
    who played the game several times; such a game is drawn as a whole for the intervals. The stable rank is that of the
    games in Tenhou's rooms, where records have rooms. ValueError if no finished game has the name, or if the game
    counts nothing.
    """
    game = load_game(DEFAULT_GAME) if game is None else game
    tools, scoring = game.record_tools, game.scoring
    if tools is None or not scoring.counters:
        raise ValueError(f"records of {game.title} have no figures of players")
    rows: list[list[int]] = []
    places: list[tuple[str, int, list[int]]] = []
    names: Counter[str] = Counter()
    unfinished = 0
    for record in records:
        own_names = tools.players(record)
        names.update(own_names)
        row = tools.count(record, player)
        if row is not None:
            rows.append(row)
            places.extend([(record.room, record.rules.num_winds, row[:4])] if isinstance(record, GameLog) else [])
        elif player in own_names:
            unfinished += 1
    if not rows:
        shown = ", ".join(repr(name) for name, _ in names.most_common(_MAX_NAMES_SHOWN))
        raise ValueError(
            f"all {unfinished} games of {player!r} lack a final score: give records of whole games"
            if unfinished
            else f"no game has a player called {player!r}: there are {len(names)} names, such as {shown}"
            if names
            else f"no game names its players, so {player!r} cannot be found: give records with names"
        )
    found = summarise_rows(
        np.array(rows, np.int64), player, counters=scoring.counters, ratios=scoring.ratios, unfinished=unfinished
    )
    return replace(found, tenhou=TenhouRank.of(places)) if places else found


def summarise_rows(
    rows: NDArray[np.integer],
    player: str,
    *,
    counters: Sequence[str] = STATISTICS_COLUMNS,
    ratios: Mapping[str, tuple[str, str]] = STATISTICS_RATIOS,
    clusters: ArrayLike | None = None,
    unfinished: int = 0,
) -> PlayerStatistics:
    """Return the statistics of ``player`` from what he did in each game, [games, counters]; ``unfinished`` have none.

    ``counters`` begin with PLACE_COUNTERS; they and ``ratios`` are those of the game's scoring. ``clusters`` [games]
    names the wall of each game where games share one: such games are drawn together.
    """
    sums = rows.sum(axis=0, dtype=np.int64)
    independent = rows if clusters is None else cluster_sums(rows, clusters)
    samples, level = resample_sums(independent), expanded_level(LEVEL, len(independent))
    if len(independent) < _MIN_INDEPENDENT:
        samples[:] = np.nan
    placements = (int(sums[0]), int(sums[1]), int(sums[2]), int(sums[3]))
    index = {name: place for place, name in enumerate(counters)}

    def ratio(totals: F64 | NDArray[np.int64], name: str) -> F64:
        if name not in ratios:
            return np.full(len(totals), np.nan)
        above, below = ratios[name]
        with np.errstate(divide="ignore", invalid="ignore"):
            found: F64 = totals[:, index[above]] / totals[:, index[below]]
        return found

    names = dict.fromkeys((*STATISTICS_RATIOS, *ratios))
    values = {name: float(ratio(sums[None, :], name)[0]) for name in names}
    values["average_placement"] = average_placement(placements)
    return PlayerStatistics(
        player=player,
        games=int(sums[index["games"]]),
        unfinished_games=unfinished,
        kyoku=int(sums[index["kyoku"]]) if "kyoku" in index else 0,
        placements=placements,
        intervals={name: percentile_interval(ratio(samples, name), level) for name in names},
        own={name: values.pop(name) for name in names if name not in STATISTICS_RATIOS},
        tenhou=None,
        **values,
    )


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
