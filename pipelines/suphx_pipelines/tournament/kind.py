"""What differs between tournaments of a game of four seats and of a game of two sides: a ``Kind`` for each.

The stages ask it and know no game. seats.py counts hanchans on walls, sides.py games on decks; kinds.py has the kind of
a recipe.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from suphx.evaluation.game_runner import Forfeit, Forfeits, GameRunner, LoadAgent
from suphx.evaluation.kept_results import GAMES_FOLDER, KeptResults
from suphx.evaluation.rating import RatedGame
from suphx.evaluation.sequential import SequentialOutcome
from suphx.evaluation.tournament import PlayedLineup
from suphx.games.scoring import MAX_DEAL_SEED
from suphx_pipelines.charts.plot import Figure
from suphx_pipelines.runs.stage import StageContext
from suphx_pipelines.runs.verdict import Outcome, Verdict
from suphx_pipelines.tournament.entrants import Entrant, Pool
from suphx_pipelines.tournament.history import EarlierNights, GameCode
from suphx_pipelines.tournament.pages import LiveState, Row, Sections
from suphx_platform.agents.agent_source import AgentSource, FoundCheckpoint
from suphx_platform.evaluation.match_workers import match_workers

Context: TypeAlias = StageContext[Any]
"""Of a stage; its recipe is a ``TournamentRecipe`` or a ``SideTournamentRecipe``."""
DECISION, DECISION_NAME = "decision", "decision.json"
Decision: TypeAlias = Mapping[str, Any]
"""What ``decision.json`` says (docs/result_files.md)."""


@dataclass(slots=True, kw_only=True)
class Night:
    """What is known of a night's games so far; it may be asked while games come in."""

    pool: Pool
    earlier: EarlierNights
    anchor: str
    """Name of the agent whose rating is fixed."""
    name: str
    run_id: str
    games: list[RatedGame] = field(default_factory=list)
    rows: dict[str, Any] = field(default_factory=dict)
    """Sums of what the agents did, by digest."""
    points: dict[str, list[float]] = field(default_factory=dict)
    """Sums of the points of the agents as each party, by digest."""
    forfeits: Forfeits = field(default_factory=Forfeits)
    """By number in the pool."""

    @property
    def anchor_digest(self) -> str:
        """Return the digest of the anchor: its name itself where it does not play tonight."""
        return next((entrant.digest for entrant in self.pool.entrants if entrant.name == self.anchor), self.anchor)

    @property
    def all_games(self) -> list[RatedGame]:
        """Return the games of all nights."""
        return [*self.earlier.games, *self.games]

    def note(self, played: PlayedLineup) -> None:
        """Take the games of a lineup; lineups come in any order."""
        self.games += played.games
        for digest, row in played.rows.items():
            self.rows[digest] = self.rows.get(digest, 0) + row
        for digest, points in played.points.items():
            sums = self.points.get(digest, [0.0] * len(points))
            self.points[digest] = [before + own for before, own in zip(sums, points, strict=True)]
        digests = [entrant.digest for entrant in self.pool.entrants]
        lost = Forfeits.of(Forfeit(digests.index(digest), reason) for digest, reason in played.forfeits)
        self.forfeits = Forfeits.together([self.forfeits, lost])


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the deciding match says of the candidate, for its version in the model registry."""

    outcome: Outcome
    """What the tournament says of the candidate, also as the outcome of its run."""
    why: str = "It is the first candidate: there was no champion and no opponent to beat."
    """Why it was promoted or was not, in Markdown."""
    tags: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Figures of the match on new deals; they become tags too."""


class Kind(ABC):
    """The tournaments of a game, by what its scoring counts."""

    deals: str
    """What people call its deals, in tables and files too."""
    games: str
    """The same of its games."""
    games_per_deal: int
    least: int
    """Agents of a tournament."""
    nothing_new: str
    """Why there is no candidate."""
    result_keys: tuple[str, ...]
    """Of the row of an agent, in what the command answers."""
    game_title = "A game to look at"
    game_text: str
    """What the sample game shows."""
    files: Mapping[str, Mapping[str, str]]
    """Stage -> what it writes into its folder (docs/result_files.md), where that differs."""

    def __init__(self, game: str) -> None:
        self.game = game

    # who plays

    @abstractmethod
    def code(self, recipe: Any) -> GameCode:
        """Return by which rules and code the games are played."""

    @property
    @abstractmethod
    def net_files(self) -> Sequence[str]:
        """Names of the files of an agent's nets."""

    @abstractmethod
    def newest(self, source: AgentSource, place: str, recipe: Any) -> Sequence[FoundCheckpoint]:
        """Return the checkpoints in a folder of runs or a storage, newest first."""

    @abstractmethod
    def enter(
        self, recipe: Any, source: AgentSource, folder: Path, number: int, name: str, address: str, is_candidate: bool
    ) -> Entrant:
        """Copy the nets of an agent, if it has any, and see that it can play; ValueError if it cannot."""

    @abstractmethod
    def load(self, recipe: Any, console: Any) -> LoadAgent:
        """Return what makes agents of their addresses, after what has to be done before processes play."""

    # leaderboard

    @abstractmethod
    def num_deals(self, recipe: Any) -> int:
        """Return the deals of a night."""

    @abstractmethod
    def check_size(self, recipe: Any, num_agents: int) -> None:
        """Raise ValueError if that is too few for so many agents."""

    @abstractmethod
    def setup(self, context: Context, earlier: Sequence[RatedGame]) -> dict[str, Any]:
        """Return the values of ``TournamentSetup`` on rules and deals."""

    @abstractmethod
    def facts(self, recipe: Any) -> dict[str, Any]:
        """Return what ``games.json`` says of the night."""

    @abstractmethod
    def row(self, night: Night, entrant: Entrant, games: Sequence[RatedGame]) -> dict[str, Any]:
        """Return the values of an agent in ``table.json`` beyond its rating; ``games``: of all nights."""

    @abstractmethod
    def leaderboard(self, table: Row, names: Sequence[str]) -> str:
        """Return the section with the ratings; ``names``: short ones of the agents."""

    def style(self, table: Row, names: Sequence[str]) -> Sections:
        """Return sections on how the agents play."""
        return []

    def style_figures(self, table: Row, names: Sequence[str]) -> dict[str, Figure]:
        """Return the pictures of these sections by the names of their files."""
        return {}

    @abstractmethod
    def replay(self, recipe: Any, night: Row) -> dict[str, Any]:
        """Return the values of ``replay_deals`` on rules and tables; ``night``: what ``games.json`` says."""

    @abstractmethod
    def csv_row(self, row: Row) -> dict[str, Any]:
        """Return an agent of the leaderboard as a line of a table, without its name and rating."""

    # decision

    @abstractmethod
    def decide(
        self,
        context: Context,
        candidate: str,
        opponent: str,
        played: Sequence[RatedGame],
        *,
        runner: GameRunner,
        tell: Callable[[SequentialOutcome], None],
    ) -> Any:
        """Play the deciding match between two addresses and return its report.

        ``played``: the games that picked the candidate.
        """

    @abstractmethod
    def decision_games(self, recipe: Any) -> int:
        """Return the games of the deciding match, at most."""

    @abstractmethod
    def decision(self, report: Any, names: dict[str, str]) -> dict[str, Any]:
        """Return the keys of ``decision.json``; ``names``: of both players, None for a report without a match."""

    @abstractmethod
    def figures(self, report: Any) -> dict[str, float]:
        """Return the figures for MLflow: those of the match that was stopped have no mean, which would be too good."""

    def warnings(self, decision: Decision) -> Iterable[str]:
        """Return what a person should know of a decision."""
        return ()

    def title(self, recipe: Any, candidate: str, opponent: str) -> str:
        """Return who plays the deciding match."""
        return f"The deciding match: {candidate} against {opponent}."

    @abstractmethod
    def live(self, recipe: Any, state: LiveState) -> str:
        """Return the state of the deciding match as HTML."""

    @abstractmethod
    def section(self, decision: Decision) -> str:
        """Return the test of the deciding match and the figures that it gave; empty without a match."""

    @abstractmethod
    def is_worse(self, decision: Decision) -> bool:
        """Tell whether the whole interval of a match that was not won says that the candidate is worse."""

    @abstractmethod
    def stop_text(self, decision: Decision) -> str:
        """Return why a match ended without a pass."""

    @abstractmethod
    def pass_text(self, decision: Decision) -> str:
        """Return what the match on new deals gave."""

    @abstractmethod
    def evidence(self, decision: Decision, version: str | None) -> Evidence:
        """Return what the match says of the candidate; ``version``: of the champion in the registry."""

    @abstractmethod
    def verdict(self, table: Row, decision: Decision, promotion: Row) -> Verdict:
        """Return what the tournament decided."""

    # games to look at

    @abstractmethod
    def sample_page(self, context: Context, entrants: Mapping[str, Entrant]) -> tuple[str, int] | None:
        """Play a game of the strongest nets and return its page and the deals on it; None if no nets have played."""

    def decision_pages(self, context: Context, decision: Decision) -> Mapping[str, Any]:
        """Write pages of games of the deciding match beside the report, and return what it shows of them."""
        return {}

    # what is the same

    def outcome(self, decision: Decision) -> Outcome:
        """Return what came of the deciding match, for the run, its reports and the registry alike.

        The candidate may be worse although the test itself, which asks whether it is better by some difference, has not
        decided.
        """
        test = decision["test"]
        if test is None:
            return "none"  # the first champion has beaten nobody
        if decision["match"] is not None:
            return "better"
        if self.is_worse(decision):
            return "worse"
        return "not_better" if test["verdict"] == "not_better" else "undecided"

    def reason(self, decision: Decision, *, is_promoted: bool) -> str:
        """Return one sentence that says why the champion's alias has moved or not."""
        candidate, opponent = decision["candidate"], decision["opponent"]
        if candidate is None:
            return f"no promotion: {self.nothing_new}, give pool.newest_from a folder or storage of runs"
        if not decision["is_won"]:
            return f"no promotion: {candidate} did not beat {opponent}: {self.stop_text(decision)}"
        if decision["test"] is None:
            won = f"{candidate} is the first that played"
        else:
            won = f"{candidate} beat {opponent}: {self.pass_text(decision)}"
        if is_promoted:
            return f"new champion: {won}"
        return f"no promotion, another promotion of this night was first or the alias was moved; {won}"

    @contextmanager
    def runner(self, context: Context, num_games: int) -> Iterator[GameRunner]:
        """Yield what plays the games of a stage: it shows, keeps and stores finished games."""
        recipe = context.recipe
        load = self.load(recipe, context.console)
        kept = KeptResults(context.folder / GAMES_FOLDER)
        before, stored = len(kept), 0
        with (
            match_workers(recipe.workers, on_ray=recipe.on_ray, say=context.console.say) as workers,
            context.console.progress(self.games, num_games) as progress,
        ):

            def advance(games: float) -> None:
                nonlocal stored
                progress.advance(games)
                if kept.num_written > stored:
                    stored = kept.num_written
                    context.keep(before + stored)

            yield GameRunner(workers=workers, load=load, kept=kept, progress=advance, note_kept=progress.skip)


def deal_seed(context: Context, played: Iterable[RatedGame], deals_of: Callable[[int], range]) -> int:
    """Return a seed of deals that changes with the night: nobody shall learn the deals of a tournament.

    Where its deals are among those of the games ``played``, it is the next seed without one of them. ``deals_of``: all
    deals of a seed.
    """
    digest = hashlib.sha256(f"{context.seed}/{context.recipe.night}".encode()).digest()
    seed, known = int.from_bytes(digest[:8]) % MAX_DEAL_SEED, {game.wall for game in played}
    for _ in range(MAX_DEAL_SEED):
        deals = deals_of(seed)
        if not any(deal in deals for deal in known):
            break
        seed = (seed + 1) % MAX_DEAL_SEED
    return seed
