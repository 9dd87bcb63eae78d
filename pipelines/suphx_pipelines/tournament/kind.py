"""The tournaments of a game: who plays what, on which deals, and what is kept of it. The stages ask a ``Kind``."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch

from suphx.evaluation.game_runner import Forfeit, Forfeits, GameRunner, LoadAgent, compile_game
from suphx.evaluation.kept_results import GAMES_FOLDER, RECORDS_FOLDER, KeptResults
from suphx.evaluation.match import MatchSetup
from suphx.evaluation.match_config import MAX_SIDE_DECKS, MIN_CLUSTERS
from suphx.evaluation.rating import RatedGame
from suphx.evaluation.sequential import FRESH_FOLDER, SequentialOutcome, SequentialReport, play_sequential_match
from suphx.evaluation.tournament import PlayedLineup, games_per_deal, head_to_head, placements_of, results_per_deal
from suphx.games.game import Agent
from suphx.games.registry import agent_names, decision_names, has_candidates, load_game
from suphx.games.scoring import DEALS_PER_SEED, MAX_DEAL_SEED, SeatScoring, SideScoring, deal_seeds
from suphx.models.checkpoint import load_header
from suphx.models.device import uses_bf16
from suphx.models.net_config import Precision
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.agents.checkpoint_folder import WEAK, checkpoint_names, find_checkpoint, split_address
from suphx.selfplay.agents.net_agent import load_nets
from suphx.selfplay.rollouts.rollout import play_games
from suphx_pipelines.json_file import read_json, typed
from suphx_pipelines.report.report_page import decimal, difference, found_interval, number, percent
from suphx_pipelines.runs.provenance import digest_json
from suphx_pipelines.runs.stage import StageContext
from suphx_pipelines.stages.deck_match import deck_page
from suphx_pipelines.tournament.history import GAMES_NAME, LEADERBOARD, TABLE_NAME, EarlierNights, GameCode, read_games
from suphx_pipelines.tournament.match_texts import DECISION, Decision, MatchTexts, Row
from suphx_pipelines.viewer.riichi_games import game_page, match_pages, shown_opinions, tidy_records
from suphx_pipelines.viewer.viewer_page import VIEWS
from suphx_platform.agents.agent_forms import check_nets, follows_whole_games, is_program, split_wrapper
from suphx_platform.agents.agent_loading import have_same_moves, load_any_agent
from suphx_platform.agents.agent_source import AgentSource
from suphx_platform.evaluation.match_workers import match_workers
from suphx_platform.kernels.kernel_warmup import compile_kernels

Context: TypeAlias = StageContext[Any]
_STYLE_RATIOS = (
    "win_rate", "self_drawn_rate", "deal_in_rate", "riichi_rate", "ting_rate", "call_rate", "average_win_turn",
    "average_fan", "average_win_fan",
)  # fmt: skip
"""Ratios of the counters of a game that say how an agent plays."""
_FIRST_DECK = 2**37
"""Of leaderboards: above the decks of matches and curves."""
_FIRST_DECIDING, _DECKS_A_NIGHT = 2 * _FIRST_DECK, 2 * MAX_SIDE_DECKS
"""Of deciding matches: above the decks of leaderboards, and below those of self-play, which begin at 2**40."""


POOL, POOL_NAME = "pool", "pool.json"
COPIES = "agents/"
"""Where the nets of the pool are, in the stage's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """An agent of the pool."""

    name: str
    address: str
    """For ``load_agent``, as seen from the stage's folder where the nets are copied there."""
    digest: str
    """Of the nets that play, the early ones of ``:weak``; the address where there are none."""
    is_candidate: bool = False
    """One of the newest checkpoints: may become the champion."""
    stored: tuple[str, ...] = ()
    """Versions in a storage that the nets were copied from."""

    @property
    def has_nets(self) -> bool:
        """Whether its nets were copied; a scripted agent and an outside program have none."""
        return split_wrapper(self.address)[1].startswith(COPIES)

    def address_in(self, folder: Path) -> str:
        """Return the address with the stage's folder in front of copied nets."""
        wrapper, nets = split_wrapper(self.address)
        return f"{wrapper}{folder / nets}" if self.has_nets else self.address

    def nets_in(self, folder: Path) -> Path:
        """Return the folder of copied nets."""
        return folder / split_address(split_wrapper(self.address)[1])[0]

    def net_agent_in(self, folder: Path) -> str:
        """Return the address of the agent of the copied nets, whatever wraps it and however it selects actions."""
        _, words = split_address(split_wrapper(self.address)[1])
        return f"{self.nets_in(folder)}{f':{WEAK}' if WEAK in words else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """What ``pool.json`` says: who plays."""

    entrants: tuple[Entrant, ...]
    champion: int | None
    """Number of the champion in the pool; None if there is none."""
    version: str | None
    """Of the champion in the model registry."""
    left_out: dict[str, str]
    opponent: Entrant | None = None
    """Of the deciding match while there is no champion; it does not play on the leaderboard."""

    @classmethod
    def read(cls, folder: Path) -> Pool:
        """Return what the stage has left in ``folder``."""
        return typed(cls, (folder / POOL_NAME).read_bytes())

    @property
    def champion_entrant(self) -> Entrant | None:
        """The champion."""
        return None if self.champion is None else self.entrants[self.champion]

    def named(self, name: str | None) -> Entrant | None:
        """Return the entrant of this name."""
        return next((entrant for entrant in self.entrants if entrant.name == name), None)


@dataclass(frozen=True, slots=True)
class Column:
    """What a leaderboard shows of an agent beyond its rating."""

    title: str
    text: Callable[[Any], str]
    path: tuple[str, ...]
    """Keys of its value in a row of ``table.json``."""
    key: str = ""
    """In ``leaderboard.csv``; empty: it is not there."""

    def value(self, row: Row) -> Any:
        """Return the value of an agent."""
        for key in self.path:
            row = row[key]
        return row


@dataclass(slots=True, kw_only=True)
class Night:
    """What is known of a night's games so far; it may be asked while games come in."""

    pool: Pool
    earlier: EarlierNights
    anchor: str
    name: str
    run_id: str
    games: list[RatedGame] = field(default_factory=list)
    rows: dict[str, Any] = field(default_factory=dict)
    """Sums of what the agents did, by digest."""
    points: dict[str, list[float]] = field(default_factory=dict)
    """Sums of the points of the agents as each party, by digest."""
    ranking: dict[str, float] = field(default_factory=dict)
    """Sums of the ranking points of the agents, by digest, where points decide."""
    forfeits: Forfeits = field(default_factory=Forfeits)

    @property
    def anchor_digest(self) -> str:
        """Return the digest of the anchor: its name itself where it does not play tonight."""
        return next((entrant.digest for entrant in self.pool.entrants if entrant.name == self.anchor), self.anchor)

    def note(self, played: PlayedLineup) -> None:
        """Take the games of a lineup; lineups come in any order."""
        self.games += played.games
        for digest, row in played.rows.items():
            self.rows[digest] = self.rows.get(digest, 0) + row
        for digest, points in played.points.items():
            sums = self.points.get(digest, [0.0] * len(points))
            self.points[digest] = [before + own for before, own in zip(sums, points, strict=True)]
        for digest, own in played.ranking.items():
            self.ranking[digest] = self.ranking.get(digest, 0.0) + own
        digests = [entrant.digest for entrant in self.pool.entrants]
        lost = (Forfeit(digests.index(digest), reason) for digest, reason in played.forfeits)
        self.forfeits = Forfeits((*self.forfeits, *lost))


class Kind:
    """The tournaments of a game."""

    def __init__(self, game: str) -> None:
        self.game = game
        self._game: Any = load_game(game)
        scoring: SeatScoring | SideScoring = self._game.scoring
        self.scoring = scoring
        self.has_sides = isinstance(scoring, SideScoring)
        self.deals, self.games = f"{scoring.deal}s", scoring.games
        self.games_per_deal = games_per_deal(scoring)
        """On the leaderboard."""
        self.games_per_result = self.games_per_deal // results_per_deal(scoring)
        self.has_points = scoring.decides == "points"
        self.least = len(scoring.party_seats)
        """Agents of a tournament."""
        self.texts = MatchTexts(scoring)
        self.columns = self._new_columns()
        own = ("points_per_game", "ranking_points") if self.has_points else ("average_placement",)
        self.result_keys = ("rating", "interval", "games", *(("sides",) if self.has_sides else own))
        """Of the row of an agent, in what the command answers."""

    @property
    def can_promote(self) -> bool:
        """Tell whether nets of the game have a form in the model registry (tracking/pyfunc_form.py)."""
        learning = self._game.learning
        return has_candidates(self.game) or (learning is not None and "archive" in learning.options)

    def rules(self, recipe: Any) -> Any:
        """Return the rules by which games are played."""
        return recipe.rules or self._game.new_rules({})

    def tables(self, recipe: Any) -> dict[str, Any]:
        """Return by which rules and options of tables games are played."""
        options = {"has_draw_lanes": recipe.draw_lanes} if "has_draw_lanes" in self.scoring.table_options else {}
        return {"rules": self.rules(recipe), "options": options}

    # who plays

    def code(self, recipe: Any) -> GameCode:
        """Return by which rules the games are played."""
        values = self._game.rules_values(self.rules(recipe))
        rules = digest_json([self.game, values] if self.has_sides else values)
        return GameCode(rules=rules, num_seats=self.least)

    def enter(
        self, recipe: Any, source: AgentSource, folder: Path, number: int, name: str, address: str, is_candidate: bool
    ) -> Entrant:
        """Copy the nets of an agent, if it has any, and see that it can play; ValueError if it cannot."""
        copy, space = folder / COPIES / str(number), folder / COPIES / f"fetched-{number}"
        for remains in (copy, space):
            shutil.rmtree(remains, ignore_errors=True)  # of one that did not play, or of a killed attempt
        wrapper, nets = split_wrapper(address)
        if address in self._game.agents:
            place, words = None, set[str]()
        else:
            fetched, words = split_address(source.fetch(nets, space, self.game))
            place = Path(fetched) if Path(fetched).is_dir() else None
        if place is None:
            load_entrant(self.game, address)
            return Entrant(name=name, address=address, digest=address, is_candidate=is_candidate)
        copy.mkdir(parents=True)
        for decision in decision_names(self.game):
            shutil.copy2(find_checkpoint(place, decision, is_weak=False), copy)
            with suppress(ValueError):  # not every training leaves weak ones
                shutil.copy2(find_checkpoint(place, decision, is_weak=True), copy)
        shutil.rmtree(space, ignore_errors=True)
        told = ",".join(sorted(words))
        files = [copy / file for file in checkpoint_names(is_weak=WEAK in words, game=self.game)]
        digest = hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()
        entrant = Entrant(
            name=name,
            address=f"{wrapper}{COPIES}{number}{told and ':'}{told}",
            digest=wrapper + digest + ",".join(sorted(words - {WEAK})),
            is_candidate=is_candidate,
            stored=tuple(source.stored.get(nets, ())),
        )
        if not has_candidates(self.game):
            load_entrant(self.game, entrant.address_in(folder))
            if is_candidate and any(getattr(load_header(file).net, "num_oracle_planes", 0) for file in files):
                raise ValueError("it sees hidden tiles")
        elif not have_same_moves(self._game, load_nets(copy, game=self.game).rules, self.rules(recipe)):
            advice = ", or name another registry.model" if name == recipe.registry.address else ""
            raise ValueError(
                f"{name} learned rules with other moves than those of the recipe: change its table rules{advice}"
            )
        return entrant

    def load(self, recipe: Any, console: Any) -> LoadAgent:
        """Return what makes agents of their addresses, after what has to be done before processes play."""
        if self._game.kernel_groups:
            compile_kernels(console, *self._game.kernel_groups)
        elif not recipe.on_ray:  # each process would compile them
            with console.activity("compiling kernels"):
                compile_game(self.game, self.rules(recipe))
        # Settled here: workers on nodes with other CPUs would choose another one.
        precision: Precision = "bf16" if uses_bf16("auto", torch.device("cpu")) else "fp32"
        return partial(load_entrant, self.game, precision=precision)

    # leaderboard

    def num_deals(self, recipe: Any, num_agents: int) -> int:
        """Return the deals of a night; ValueError if they are too few for so many agents."""
        games: int = recipe.leaderboard.games
        least = self.games_per_deal * self.scoring.deals_per_lineup * num_agents
        if games < least:
            raise ValueError(f"leaderboard.games is {games} for {num_agents} agents: use at least {least}")
        return games // self.games_per_deal

    def deals_of(self, seed: int) -> range:
        """Return all deals of a seed."""
        if not self.has_sides:
            return deal_seeds(seed, DEALS_PER_SEED)
        first = _FIRST_DECK + MAX_SIDE_DECKS * seed
        return range(first, first + MAX_SIDE_DECKS)

    def first_deal(self, context: Context, earlier: Sequence[RatedGame]) -> int:
        """Return the seed of the first deal of a night."""
        return self.deals_of(deal_seed(context, earlier, self.deals_of)).start

    def row(self, night: Night, entrant: Entrant, games: Sequence[RatedGame]) -> dict[str, Any]:
        """Return the values of an agent in ``table.json`` beyond its rating; ``games``: of all nights."""
        if self.has_sides:
            sides: dict[str, dict[str, float | None]] = {}
            for place, side in enumerate(self.texts.sides):  # ``wp`` over all nights, ``adp`` over tonight's games
                own = [game for game in games if game.seats[place] == entrant.digest]
                tonight = sum(game.seats[place] == entrant.digest for game in night.games)
                sides[side] = {
                    "wp": sum(game.places[place] == 1 for game in own) / len(own) if own else None,
                    "adp": night.points[entrant.digest][place] / tonight if tonight else None,
                }
            return {"sides": sides}
        pool = night.pool
        champion = pool.champion_entrant
        places = placements_of(games, entrant.digest)
        row = night.rows.get(entrant.digest)
        sums = {} if row is None else dict(zip(self.scoring.counters, row.tolist(), strict=True))
        pairs = {name: self.scoring.ratios[name] for name in _STYLE_RATIOS if name in self.scoring.ratios}
        lost = night.forfeits.to_json([other.name for other in pool.entrants])
        against = None
        if champion is not None and entrant is not champion:
            pair = {entrant.digest, champion.digest}
            if len({game.wall for game in games if pair <= set(game.seats)}) >= MIN_CLUSTERS:
                found = head_to_head(games, entrant.digest, champion.digest)
                interval = found.interval
                against = {"difference": found.mean, "interval": interval.ends, "is_widened": interval.is_widened}
        won: dict[str, float | None] = {}
        if self.has_points:  # over tonight's games
            tonight = sum(entrant.digest in game.seats for game in night.games)
            total = sum(night.points.get(entrant.digest, ()))
            won = {
                "points_per_game": total / (tonight * self.games_per_result) if tonight else None,
                "ranking_points": night.ranking[entrant.digest] / tonight if tonight else None,
            }
        return {
            **won,
            "placements": [int(np.count_nonzero(places == rank)) for rank in range(1, self.least + 1)],
            "average_placement": float(places.mean()),
            "against_champion": against,
            "style": {name: sums[over] / sums[by] if sums.get(by) else None for name, (over, by) in pairs.items()},
            **lost.get(entrant.name, {"forfeits": 0}),
        }

    def _new_columns(self) -> list[Column]:
        if self.has_sides:
            return [
                Column(f"{key.upper()} as {side}", text, ("sides", side, key), f"{key}_{side}")
                for side in self.texts.sides
                for key, text in (("wp", percent), ("adp", decimal))
            ]
        columns = []
        if self.has_points:
            columns.append(Column("points per game", decimal, ("points_per_game",), "points_per_game"))
            columns.append(Column("ranking points per deal", _precise, ("ranking_points",), "ranking_points"))
        return [
            *columns,
            Column("average placement", _precise, ("average_placement",), "average_placement"),
            Column("against the champion", _gap, ("against_champion",)),
            Column("forfeited games", lambda count: number(count or None), ("forfeits",)),
        ]

    # decision

    def decide(
        self,
        context: Context,
        candidate: str,
        opponent: str,
        played: Sequence[RatedGame],
        *,
        runner: GameRunner,
        tell: Callable[[SequentialOutcome], None],
    ) -> SequentialReport:
        """Play the deciding match between two addresses and return its report.

        ``played``: the games that picked the candidate.
        """
        recipe, config = context.recipe, context.recipe.decision
        setup = MatchSetup(candidate, opponent, seed=0, game=self.game, **self.tables(recipe))
        records = context.folder / RECORDS_FOLDER
        if self.has_sides:
            first = _FIRST_DECIDING + _DECKS_A_NIGHT * deal_seed(context, (), self.deals_of)
            setup = replace(setup, first_deal=first, first_fresh_deal=first + MAX_SIDE_DECKS)
        else:
            runner = replace(runner, records=records)
            setup = replace(
                setup,
                seed=deal_seed(context, played, self.deals_of),
                deals_per_task=1 if any(map(follows_whole_games, (candidate, opponent))) else 0,
            )
        per_deal = self.scoring.num_games(config.test.deciding_seating)
        most, fresh = (games // per_deal for games in (config.games, config.fresh_games))
        report = play_sequential_match(
            setup, config.test, max_deals=most, fresh_deals=fresh, runner=runner, tell=tell
        )  # fmt: skip
        tidy_records(records, report.outcome.deals)
        return report

    def decision(self, report: SequentialReport | None, names: dict[str, str]) -> dict[str, Any]:
        """Return the keys of ``decision.json``; ``names``: of both players, None for a report without a match."""
        own: dict[str, Any] = {} if self.has_sides else {"other_seatings": {}}
        if report is None:
            return {"test": None, "match": None, **own}
        if self.has_sides:
            names = {}
        values = report.to_json()
        match, others = values.pop("fresh_match"), values.pop("other_seatings", {})
        own = {name: {seating: other | names for seating, other in others.items()} for name in own}
        return {"test": values | names, "match": match and match | names, **own}

    # games to look at

    def sample_page(self, context: Context, players: Pool) -> tuple[str, int] | None:
        """Return the page of a game of the strongest nets with the strongest others, and the deals on it.

        None if no nets have played. Outside programs do not play: they would have to be started again.
        """
        recipe, night, pool = context.recipe, context.upstream[LEADERBOARD], context.upstream[POOL]
        entrants = {entrant.digest: entrant for entrant in players.entrants}
        ranked = [entrants[row["digest"]] for row in read_json(night / TABLE_NAME)["agents"]]
        strongest = next((entrant for entrant in ranked if entrant.has_nets), None)
        others = [entrant for entrant in ranked if entrant is not strongest and not is_program(entrant.address)]
        view = VIEWS.get(self.game)
        if strongest is None or len(others) < self.least - 1 or view is None or not (self.has_sides or view.has_ids):
            return None
        seated = (strongest, *others[: self.least - 1])
        agents = [(each.name, load_entrant(self.game, each.address_in(pool))) for each in seated]
        first_deal = min(game.wall for game in read_games(night / GAMES_NAME, self.code(recipe)))
        title = f"{recipe.name}, {recipe.night}: {' against '.join(name for name, _ in agents[:2])}"
        if self.has_sides:
            return deck_page(self._game, self.rules(recipe), (agents[0], agents[1]), seed=first_deal, title=title), 2
        options = {**self.scoring.table_options, **self.tables(recipe)["options"]}
        with context.console.parts("playing a game to look at") as progress:
            (log,) = play_games(
                [agent for _, agent in agents],
                np.arange(len(agents))[np.newaxis],
                (first_deal,),
                self.rules(recipe),
                game=self.game,
                options=options,
                names=[name for name, _ in agents],
                progress=progress,
            )
        thinks = load_entrant(self.game, strongest.net_agent_in(pool))
        opinions = replace(shown_opinions(thinks, log, context.console), name=agents[0][0])
        return game_page(log, opinions, f"{recipe.name}, {recipe.night}: a game"), len(log.kyokus)

    def match_pages(self, context: Context, decision: Decision) -> Mapping[str, Any]:
        """Write pages of games of the deciding match into the stage's folder, and return what the report shows of them.

        The games are those of the match on new walls if there was one; empty if no match of such games was played.
        """
        if self.has_sides or decision["test"] is None:
            return {}
        records, pool = context.upstream[DECISION] / RECORDS_FOLDER, context.upstream[POOL]
        candidate = Pool.read(pool).named(decision["candidate"])
        assert candidate is not None
        return match_pages(
            records / FRESH_FOLDER if decision["match"] else records,
            load_agent(str(candidate.nets_in(pool))),
            context.folder,
            name=candidate.name,
            opponent=decision["opponent"],
            title=f"{context.recipe.name}, {context.recipe.night}: a game of the decision",
        )

    @contextmanager
    def runner(
        self, context: Context, num_games: int, note: Callable[[float], None] = lambda games: None
    ) -> Iterator[GameRunner]:
        """Yield what plays the games of a stage: it shows, keeps and stores finished games.

        ``note`` gets parts of games, those that were kept included.
        """
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
                note(games)
                if kept.num_written > stored:
                    stored = kept.num_written
                    context.keep(before + stored)

            def skip(games: float) -> None:
                progress.skip(games)
                note(games)

            yield GameRunner(workers=workers, load=load, kept=kept, progress=advance, note_kept=skip)


def kind_of(recipe: Any) -> Kind:
    """Return the kind of the tournament of a recipe."""
    return Kind(recipe.game_name)


def load_entrant(game: str, address: str, *, precision: Precision = "auto") -> Agent:
    """Return the agent at an address in this machine; ValueError if there is none."""
    if has_candidates(game) and address not in agent_names(game):
        check_nets(address, game)  # outside programs of these games do not play in tournaments
    return load_any_agent(address, game, precision=precision)


_precise = partial(decimal, digits=3)


def _gap(against: Mapping[str, Any] | None) -> str:
    """Return the difference to the champion for the page."""
    return f"{difference(against['difference'])} ({found_interval(against, 3)})" if against else "–"


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
