"""A match in a game of two sides: every deal is played twice, with the agents' sides swapped.

>>> game = candidate_game("doudizhu")
>>> players = game.scripted_player("rule"), game.scripted_player("random")
>>> report = play_side_match(game, Rules(), *players, num_deals=500)
>>> report.figures["wp_landlord"].mean  # the share of its games as landlord that the first agent wins

WP is the share of games won, ADP the mean points per game (DouZero, Zha et al. 2021, section 5.1).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suphx.atomic_file import write_atomically
from suphx.evaluation.match_config import MIN_CLUSTERS, check_side_deals
from suphx.evaluation.statistics import Interval, mean_interval, proportion_interval, reaching
from suphx.evaluation.workers.forfeits import Forfeit, Forfeits
from suphx.evaluation.workers.match_records import KeptResults, with_kept
from suphx.evaluation.workers.play_plan import FORFEITS, GAMES_PER_DECK, DeckBlock, Summary
from suphx.evaluation.workers.side_runner import RECORDS, SidePlan
from suphx.games.candidate_game import CandidateGame, Player

SIDE_AGENTS = ("candidate", "opponent")
"""What the first agent and the second are called in reports and records."""
DECKS_PER_BLOCK = 250
"""Nets answer many tables faster; those in progress are lost if a match is stopped."""

Outcome = Literal["better", "worse", "undecided"]


@dataclass(frozen=True, slots=True)
class SideFigure:
    """A mean over deals."""

    mean: float
    interval: Interval
    """95 %."""

    def to_json(self) -> dict[str, Any]:
        """Return the keys that scripts read."""
        bounds = [self.interval.low, self.interval.high]
        return {"mean": self.mean, "interval": bounds, "is_widened": self.interval.is_widened}


@dataclass(frozen=True, slots=True, kw_only=True)
class SideReport:
    """What the first agent reached against the second."""

    deals: int
    figures: dict[str, SideFigure]
    """``share``: of all games won, half of them on each side, so that equal agents have 0.5; ``points``: the mean of
    both sides; ``wp_<side>`` and ``adp_<side>`` of each side."""
    forfeits: Forfeits = field(default_factory=Forfeits)
    """Of the first agent (0) and the second (1): games that they could not play to the end, which they have lost."""

    @property
    def outcome(self) -> Outcome:
        """Whether the first agent wins more than half of the games, beyond doubt; few deals decide nothing."""
        if self.deals < MIN_CLUSTERS:
            return "undecided"
        interval = self.figures["share"].interval
        return "better" if interval.low > 0.5 else "worse" if interval.high < 0.5 else "undecided"

    def to_json(self) -> dict[str, Any]:
        """Return all figures by name, and who forfeited games."""
        figures = {name: figure.to_json() for name, figure in self.figures.items()}
        return {**figures, "forfeits": self.forfeits.to_json(SIDE_AGENTS)}


def play_side_match(
    game: CandidateGame,
    rules: Any,
    first: Player,
    second: Player,
    *,
    num_deals: int,
    first_seed: int = 0,
    decks_per_block: int = DECKS_PER_BLOCK,
    kept: KeptResults | None = None,
    record_names: tuple[str, str] | None = None,
    progress: Callable[[float], None] = lambda decks: None,
    note_kept: Callable[[float], None] = lambda decks: None,
    tell: Callable[[str], None] = lambda text: None,
) -> SideReport:
    """Play the deals ``first_seed``, ``first_seed`` + 1, … on both sides, block by block.

    What ``kept`` has of the same blocks is not played again; it gets each block that is finished, with the records of
    its games if there are ``record_names`` of both agents (``write_records``). ``progress`` gets numbers of finished
    decks, ``note_kept`` of those that were kept, ``tell`` what is known so far, in a few words.

    ValueError for fewer than two deals, which have no interval.
    """
    check_side_deals(num_deals)
    blocks = deck_blocks(first_seed, num_deals, decks_per_block)
    plan = SidePlan(game=game.name, rules=rules, addresses=(), load=game.scripted_player, record_names=record_names)

    def play(missing: list[int]) -> Generator[tuple[int, Summary], None, None]:
        tasks = enumerate(blocks[index] for index in missing)
        yield from plan.play_tasks((first, second), tasks, lambda games: progress(games / GAMES_PER_DECK))

    found: dict[int, Summary] = {}
    wins = decks = 0
    keys = [block.key for block in blocks]
    for index, summary in with_kept(kept, keys, play, lambda index: note_kept(blocks[index].num_deals)):
        found[index] = {name: value for name, value in summary.items() if name != RECORDS}
        wins += sum(map(sum, summary["wins"].values()))
        decks += blocks[index].num_deals
        tell(f"{wins / (GAMES_PER_DECK * decks):.1%} of the games won after {decks:,} decks")
    return side_report(game.sides, [found[index] for index in sorted(found)])


def deck_blocks(first_deal: int, num_decks: int, size: int) -> list[DeckBlock]:
    """Return the blocks of a match of two agents, of ``size`` decks each."""
    return [
        DeckBlock(
            pair=(0, 1),
            first_deal=first_deal + start,
            num_deals=min(size, num_decks - start),
            key=f"decks-{start + 1}-{min(start + size, num_decks)}",
            title=f"candidate and opponent on decks {start + 1} to {min(start + size, num_decks)}",
        )
        for start in range(0, num_decks, size)
    ]


def write_records(path: Path, kept: KeptResults, num_decks: int, decks_per_block: int = DECKS_PER_BLOCK) -> None:
    """Write the records of all games of a match that ``kept`` has, a line each, in the order of the decks."""
    blocks = deck_blocks(0, num_decks, decks_per_block)
    summaries = (kept.read(block.key) or {} for block in blocks)
    write_atomically(path, (f"{line}\n".encode() for summary in summaries for line in summary[RECORDS]))


def side_report(sides: Sequence[str], blocks: Sequence[Summary]) -> SideReport:
    """Return the figures of a match from the summaries of its blocks, in the order of the deals."""
    columns: dict[str, NDArray[np.float64]] = {}
    for side in sides:
        columns[f"wp_{side}"] = np.array([won for block in blocks for won in block["wins"][side]], np.float64)
        columns[f"adp_{side}"] = np.array([won for block in blocks for won in block["points"][side]], np.float64)
    for name, measure in (("share", "wp"), ("points", "adp")):
        columns[name] = np.mean([columns[f"{measure}_{side}"] for side in sides], axis=0)
    figures = {name: SideFigure(float(column.mean()), _interval(name, column)) for name, column in columns.items()}
    return SideReport(deals=len(columns["share"]), figures=figures, forfeits=forfeits_of(blocks))


def forfeits_of(blocks: Iterable[Summary]) -> Forfeits:
    """Return who forfeited games in the blocks with these summaries."""
    return Forfeits.of(Forfeit(*found) for block in blocks for found in block.get(FORFEITS, ()))


def _interval(name: str, column: NDArray[np.float64]) -> Interval:
    if name == "share":
        return reaching(0.5, proportion_interval(column), column)
    return proportion_interval(column) if name.startswith("wp_") else mean_interval(column)
