"""What one player did over many recorded games: placements, stable rank, wins, deal-ins, riichi and calls (table 5).

Rates are per kyoku, draws included. A double ron is two wins and two deal-ins, so that a table's deal-ins are its wins
by ron; ``deal_in_kyoku_rate`` counts it once. Points of a win are those of the hand, without honba and sticks; whoever
pays for pao does not deal in unless the tile was theirs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suphx.evaluation.stable_rank import F64, stable_rank, stable_ranks
from suphx.evaluation.statistics import Interval, average_placement, cluster_sums, percentile_interval, resample_sums
from suphx.games.riichi.records.log.gamelog import ACTION_BITS, GameLog, KyokuLog
from suphx.games.riichi.table.action import PASS, PON, RIICHI, TSUMOGIRI
from suphx.games.riichi.table.table import EXHAUSTIVE_DRAW, WIN_RESULT

_MAX_NAMES_SHOWN = 5

Rates: TypeAlias = dict[str, tuple[str, str]]

# One line of these numbers a game; everything reported is a ratio of two columns' sums.
_COLUMNS = (
    "first", "second", "third", "fourth", "games", "place", "kyoku", "wins", "deal_ins", "deal_in_kyoku", "riichis",
    "calls", "draws", "tenpais", "scored_wins", "win_points", "win_turns", "scored_deal_ins", "deal_in_points",
)  # fmt: skip
_INDEX = {name: i for i, name in enumerate(_COLUMNS)}
PLACE_COLUMN = _INDEX["place"]
_RATIOS: Rates = {
    "average_placement": ("place", "games"),
    "win_rate": ("wins", "kyoku"),
    "deal_in_rate": ("deal_ins", "kyoku"),
    "deal_in_kyoku_rate": ("deal_in_kyoku", "kyoku"),
    "riichi_rate": ("riichis", "kyoku"),
    "call_rate": ("calls", "kyoku"),
    "tenpai_at_draw_rate": ("tenpais", "draws"),
    "average_win": ("win_points", "scored_wins"),
    "average_deal_in": ("deal_in_points", "scored_deal_ins"),
    "average_win_turn": ("win_turns", "wins"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerStatistics:
    """Numbers of one player; each ratio has its 95% interval (bootstrap over games, or walls) in ``intervals``.

    A ratio with nothing to divide by (no wins, no draws) is nan here and null in JSON.
    """

    player: str
    room: str
    """The room whose points the stable rank uses."""
    games: int
    unfinished_games: int
    """Games without a final score: they are in no other number."""
    kyoku: int
    placements: tuple[int, int, int, int]
    """Games in first to fourth place."""
    average_placement: float
    stable_rank: float
    stable_rank_interval: Interval
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
    """Share of exhaustive draws with a tenpai hand."""
    average_win: float
    average_deal_in: float
    average_win_turn: float
    """Own discards before the win, and one more for a self-drawn win."""
    intervals: dict[str, Interval]

    def to_json(self) -> dict[str, object]:
        """Return plain JSON values: intervals as [low, high], infinite and missing numbers as null."""
        values: dict[str, object] = {name: _plain(value) for name, value in asdict(self).items()}
        values["stable_rank_interval"] = _pair(self.stable_rank_interval)
        values["intervals"] = {name: _pair(interval) for name, interval in self.intervals.items()}
        return values


def player_statistics(logs: Iterable[GameLog], player: str, *, room: str = "expert", seed: int = 0) -> PlayerStatistics:
    """Return the statistics of ``player`` over the games that have that name at a seat; ``logs`` is read once.

    A name at several seats of a game counts as one player who played the game several times; such a game is drawn as a
    whole for the intervals. ``seed`` is that of the bootstrap. ValueError if no finished game has the name.
    """
    rows: list[list[int]] = []
    names: Counter[str] = Counter()
    unfinished = 0
    for log in logs:
        names.update(log.names)
        row = game_row(log, player)
        if row is not None:
            rows.append(row)
        elif player in log.names:
            unfinished += 1
    if not rows:
        raise ValueError(_absence(player, names, unfinished))
    return summarise_rows(np.array(rows, np.int64), player, room=room, unfinished=unfinished, seed=seed)


def game_row(log: GameLog, player: str) -> list[int] | None:
    """Return what ``player`` did in a game, for ``summarise_rows``; None if it lacks the name or a final score."""
    lines = [_seat_row(log, seat) for seat in range(4) if log.names[seat] == player and log.final_scores is not None]
    return [sum(column) for column in zip(*lines, strict=True)] if lines else None


def summarise_rows(
    rows: NDArray[np.integer],
    player: str,
    *,
    clusters: ArrayLike | None = None,
    room: str = "expert",
    unfinished: int = 0,
    seed: int = 0,
) -> PlayerStatistics:
    """Return the statistics of ``player`` from one ``game_row`` a game, [games, 19]; ``unfinished`` games have none.

    ``clusters`` [games] names the wall of each game where games share one: such games are drawn together.
    """
    sums = rows.sum(axis=0, dtype=np.int64)
    samples = resample_sums(rows if clusters is None else cluster_sums(rows, clusters), seed=seed)
    placements = (int(sums[0]), int(sums[1]), int(sums[2]), int(sums[3]))
    values = {name: float(_ratio(sums[None, :], name)[0]) for name in _RATIOS}
    values["average_placement"] = average_placement(placements)
    return PlayerStatistics(
        player=player,
        room=room,
        games=int(sums[_INDEX["games"]]),
        unfinished_games=unfinished,
        kyoku=int(sums[_INDEX["kyoku"]]),
        placements=placements,
        stable_rank=stable_rank(placements, room),
        stable_rank_interval=percentile_interval(stable_ranks(samples[:, :4], room)),
        intervals={name: percentile_interval(_ratio(samples, name)) for name in _RATIOS},
        **values,
    )


def placement_of(final_scores: tuple[int, int, int, int], seat: int) -> int:
    """Return the placement 1-4 of a seat; of equal scores the one nearer to the first East is ahead (rule)."""
    ahead = sum(s > final_scores[seat] for s in final_scores)
    return 1 + ahead + sum(final_scores[other] == final_scores[seat] for other in range(seat))


def _seat_row(log: GameLog, seat: int) -> list[int]:
    row = [0] * len(_COLUMNS)
    assert log.final_scores is not None
    place = placement_of(log.final_scores, seat)
    row[place - 1] = 1
    row[_INDEX["games"]] = 1
    row[_INDEX["place"]] = place
    for kyoku in log.kyokus:
        _add_kyoku(row, kyoku, seat)
    return row


def _add_kyoku(row: list[int], kyoku: KyokuLog, seat: int) -> None:
    moves = kyoku.moves.astype(np.int64)
    actions = moves[moves >> ACTION_BITS == seat] & ((1 << ACTION_BITS) - 1)
    row[_INDEX["kyoku"]] += 1
    row[_INDEX["riichis"]] += bool(np.any(actions == RIICHI))
    row[_INDEX["calls"]] += bool(np.any(_is_open_call(actions)))
    result = int(kyoku.result["result"])
    if result == WIN_RESULT:
        _add_wins(row, kyoku, seat, int(np.count_nonzero(actions <= TSUMOGIRI)))
    elif result == EXHAUSTIVE_DRAW:
        row[_INDEX["draws"]] += 1
        row[_INDEX["tenpais"]] += int(kyoku.result["tenpai"][seat] != 0)


def _add_wins(row: list[int], kyoku: KyokuLog, seat: int, num_discards: int) -> None:
    result = kyoku.result
    scored = int(kyoku.is_result_complete)
    deal_ins = 0
    for i in range(int(result["num_wins"])):
        winner, loser, points = (int(result[name][i]) for name in ("win_seat", "win_loser", "win_points"))
        if winner == seat:
            row[_INDEX["wins"]] += 1
            row[_INDEX["win_turns"]] += num_discards + (loser == seat)
            row[_INDEX["scored_wins"]] += scored
            row[_INDEX["win_points"]] += points * scored
        elif loser == seat:
            deal_ins += 1
            row[_INDEX["scored_deal_ins"]] += scored
            row[_INDEX["deal_in_points"]] += points * scored
    row[_INDEX["deal_ins"]] += deal_ins
    row[_INDEX["deal_in_kyoku"]] += deal_ins > 0


def _is_open_call(actions: NDArray[np.int64]) -> NDArray[np.bool_]:
    # The table of actions has PON, PON_RED, MINKAN and the six CHI side by side.
    return (actions >= PON) & (actions < PASS)


def _ratio(sums: F64 | NDArray[np.int64], name: str) -> F64:
    above, below = _RATIOS[name]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: F64 = sums[:, _INDEX[above]] / sums[:, _INDEX[below]]
    return ratio


def _absence(player: str, names: Counter[str], unfinished: int) -> str:
    if unfinished:
        return f"all {unfinished} games of {player!r} lack a final score: give records of whole games"
    if not names:
        return f"there are no games to look for {player!r} in"
    shown = ", ".join(repr(name) for name, _ in names.most_common(_MAX_NAMES_SHOWN))
    return f"no game has a player called {player!r}: there are {len(names)} names, such as {shown}"


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _pair(interval: Interval) -> list[object]:
    return [_plain(interval.low), _plain(interval.high)]
