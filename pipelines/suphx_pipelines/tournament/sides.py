"""A tournament of a game of two sides: decks that are played twice, with the sides swapped."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from suphx.evaluation.game_runner import GameRunner, LoadAgent, compile_game
from suphx.evaluation.match import MatchSetup
from suphx.evaluation.match_config import MAX_SIDE_DECKS, widened_note
from suphx.evaluation.rating import RatedGame
from suphx.evaluation.sequential import SequentialOutcome, SideSequentialReport, play_sequential_side_match
from suphx.games.registry import candidate_game, game_modules
from suphx.models.device import uses_bf16
from suphx.models.net_config import Precision
from suphx.selfplay.agents.checkpoint_folder import checkpoint_names
from suphx.training.value_nets import load_value_nets
from suphx_pipelines.charts.comparison_charts import Row as Line
from suphx_pipelines.charts.comparison_charts import interval_chart
from suphx_pipelines.json_file import read_json
from suphx_pipelines.recipe.tournament_recipe import SideTournamentRecipe
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_page import (
    decimal,
    difference,
    interval,
    number,
    percent,
    widened_about,
    widened_mark,
)
from suphx_pipelines.runs.provenance import digest_json
from suphx_pipelines.runs.verdict import Verdict
from suphx_pipelines.stages.deck_match import deck_page
from suphx_pipelines.tournament.entrants import COPIES, POOL, Entrant, digest_of_files, empty_folders
from suphx_pipelines.tournament.history import GAMES_NAME, LEADERBOARD, TABLE_NAME, GameCode
from suphx_pipelines.tournament.kind import Context, Decision, Evidence, Kind, Night, deal_seed
from suphx_pipelines.tournament.pages import LiveState, Row, rating_scale, ratings_figure, titled, words_of_test
from suphx_platform.agents.agent_loading import find_side_nets, have_same_moves, load_side_player
from suphx_platform.agents.agent_source import AgentSource, FoundCheckpoint

_FIRST_DECK = 2**37
"""Of leaderboards: above the decks of matches and curves."""
_FIRST_DECIDING, _DECKS_A_NIGHT = 2 * _FIRST_DECK, 2 * MAX_SIDE_DECKS
"""Of deciding matches: above the decks of leaderboards, and below those of self-play, which begin at 2**40."""
_GAMES_PER_DECK = 2
_NETS_MODULE = "suphx/training/value_nets.py"
"""Makes the moves of nets, with what it imports."""
_ABOUT = (
    "WP: share of games won on this side, in all nights. ADP: tonight's points per game on this side, negative for "
    "lost games. Opponents differ from agent to agent: compare agents by their ratings."
)
_NOTE = (
    "Above 50 % the candidate is better. The 95 % interval holds at all times of the match together. Its middle is no "
    "result: a match that stops when the candidate looks good has a mean that is too good."
)
_FILES: Mapping[str, Mapping[str, str]] = {
    "pool": {"pool.json, agents/<n>/": "as for riichi, with the nets of each agent"},
    "leaderboard": {
        "games/decks-<first>-<last>-agents-<digest>.json": (
            "a block of decks of two agents: `places` and `points` [game][side], both games of a deck one after another"
        ),
        "games.json": (
            "tonight's games: `game`, `night`, `rules` and `engine` (digests), `agents` [{digest, name}], `games` "
            "[[seed of the deck, agent on each side, place on each side]]"
        ),
        "table.json": (
            "`decks` (tonight), `earlier_games`, `anchor`, `is_anchored` (it has played), `agents` [{name, "
            "digest, rating, interval [2] or null (fewer than two decks), is_candidate, is_champion, games, sides "
            "{side: {wp (all nights), adp (tonight)}}}], strongest first; `pairings` and `nights` as for riichi"
        ),
    },
    "decision": {
        "decision.json": (
            "`candidate`, `opponent`, `test` {verdict, decks, difference, error, always_valid_interval [2] of the "
            "share of games won, log_likelihood_ratio, bound, expected_decks, forfeits} or null, `match` (on new "
            "decks: `decks`, `forfeits`, and the figures of `match.json` of a run) or null if there was no pass, "
            "`is_won`"
        ),
        "games/decks-<first>-<last>.json, games/fresh/": "blocks of decks, as for the leaderboard; those on new decks",
    },
    "sample_game": {
        "game.html": (
            "the night's strongest nets against the strongest other agent on the first deck of the night, both games, "
            "in the viewer; missing if no nets have played"
        ),
    },
    "report": {
        "game.html": "the page in `sample_game/`",
        "leaderboard.svg, nights.svg, pairings.svg": "the report's figures",
    },
}


class SideKind(Kind):
    """Counts games on decks."""

    deals, games = "decks", "games"
    games_per_deal = _GAMES_PER_DECK
    least = 2
    nothing_new = "no nets are new"
    result_keys = ("rating", "interval", "games", "sides")
    game_text = "Watch both games of a deck of the strongest nets, with the values of the best moves"
    files = _FILES

    def __init__(self, game: str) -> None:
        super().__init__(game)
        self._game = candidate_game(game)

    def code(self, recipe: SideTournamentRecipe) -> GameCode:
        """See ``Kind``."""
        own = (f"{module.replace('.', '/')}.py" for module in game_modules(self.game))
        return GameCode(
            rules=digest_json([self.game, self._game.rules_values(recipe.rules)]),
            num_seats=len(self._game.sides),
            modules=(*own, _NETS_MODULE),
        )

    @property
    def net_files(self) -> Sequence[str]:
        """See ``Kind``."""
        return checkpoint_names(game=self._game.name)

    def newest(self, source: AgentSource, place: str, recipe: SideTournamentRecipe) -> Sequence[FoundCheckpoint]:
        """See ``Kind``."""
        return source.newest(place, self.game)

    def enter(
        self,
        recipe: SideTournamentRecipe,
        source: AgentSource,
        folder: Path,
        number: int,
        name: str,
        address: str,
        is_candidate: bool,
    ) -> Entrant:
        """See ``Kind``."""
        game = self._game
        copy, space = empty_folders(folder, number)
        nets = find_side_nets(address, game, space, source)
        if nets is None:
            return Entrant(name=name, address=address, digest=address)
        copy.mkdir(parents=True)
        for file in self.net_files:
            shutil.copy2(nets / file, copy)
        shutil.rmtree(space, ignore_errors=True)
        learned = load_value_nets(copy).rules
        if not have_same_moves(game, learned, recipe.rules):
            advice = ", or name another registry.model" if name == recipe.registry.address else ""
            raise ValueError(
                f"{name} learned rules with other moves than those of the recipe: change its table rules{advice}"
            )
        return Entrant(
            name=name,
            address=f"{COPIES}{number}",
            digest=digest_of_files(copy / file for file in self.net_files),
            is_candidate=is_candidate,
            stored=tuple(source.stored.get(address, ())),
        )

    def load(self, recipe: SideTournamentRecipe, console: Any) -> LoadAgent:
        """See ``Kind``."""
        if not recipe.on_ray:  # before processes play, each of which would compile them
            with console.activity("compiling kernels"):
                compile_game(self.game, recipe.rules)
        # Settled here: workers on nodes with other CPUs would choose another one.
        precision: Precision = "bf16" if uses_bf16("auto", torch.device("cpu")) else "fp32"
        return partial(load_side_player, self.game, precision=precision)

    def num_deals(self, recipe: SideTournamentRecipe) -> int:
        """See ``Kind``."""
        return recipe.leaderboard.decks

    def check_size(self, recipe: SideTournamentRecipe, num_agents: int) -> None:
        """See ``Kind``."""
        decks, least = recipe.leaderboard.decks, self._game.scoring.deals_per_lineup * num_agents
        if decks < least:
            raise ValueError(f"leaderboard.decks is {decks} for {num_agents} agents: use at least {least}")

    def setup(self, context: Context, earlier: Sequence[RatedGame]) -> dict[str, Any]:
        """See ``Kind``."""
        first = _decks_of(deal_seed(context, earlier, _decks_of)).start
        return {"rules": context.recipe.rules, "first_deal": first}

    def facts(self, recipe: SideTournamentRecipe) -> dict[str, Any]:
        """See ``Kind``."""
        return {"game": recipe.game, "night": recipe.night}

    def replay(self, recipe: SideTournamentRecipe, night: Row) -> dict[str, Any]:
        """See ``Kind``."""
        return {"rules": recipe.rules}

    def row(self, night: Night, entrant: Entrant, games: Sequence[RatedGame]) -> dict[str, Any]:
        """See ``Kind``: for each side ``wp`` over all nights and ``adp`` over tonight's games; None without a game."""
        sides = {}
        for place, side in enumerate(self._game.sides):
            own = [game for game in games if game.seats[place] == entrant.digest]
            wins = sum(game.places[place] == 1 for game in own)
            tonight = sum(game.seats[place] == entrant.digest for game in night.games)
            points = night.points[entrant.digest][place] / tonight if tonight else None
            sides[side] = {"wp": wins / len(own) if own else None, "adp": points}
        return {"sides": sides}

    def leaderboard(self, table: Row, names: Sequence[str]) -> str:
        """See ``Kind``."""
        rows = table["agents"]
        text = (
            f"Pairs of agents played {number(table['decks'])} decks tonight, each twice, with the sides swapped. The "
            f"ratings are from these games and from {number(table['earlier_games'])} games of earlier nights. "
            f"{names[0]} has the highest rating."
        )
        sides = list(rows[0]["sides"])
        figures = [f"{measure} as {side}" for side in sides for measure in ("WP", "ADP")]
        columns = ("agent", "rating", "95 % interval", "games", *figures)
        cells: list[tuple[str | report_page.Titled, ...]] = [
            (name, *_cells(row, sides)) for name, row in zip(titled(rows, names), rows, strict=True)
        ]
        figure = report_page.figure(*ratings_figure(table, names, clusters="decks"))
        return report_page.paragraph(text) + figure + report_page.table(columns, cells, about=_ABOUT)

    def csv_row(self, row: Row) -> dict[str, Any]:
        """See ``Kind``."""
        figures = {f"{key}_{side}": own[key] for side, own in row["sides"].items() for key in ("wp", "adp")}
        return {"games": row["games"], **figures}

    def decide(
        self,
        context: Context,
        candidate: str,
        opponent: str,
        played: Sequence[RatedGame],
        *,
        runner: GameRunner,
        tell: Callable[[SequentialOutcome], None],
    ) -> SideSequentialReport:
        """See ``Kind``."""
        recipe = context.recipe
        first_deal = _FIRST_DECIDING + _DECKS_A_NIGHT * deal_seed(context, (), _decks_of)
        setup = MatchSetup(
            candidate,
            opponent,
            seed=0,
            game=self.game,
            rules=recipe.rules,
            first_deal=first_deal,
            first_fresh_deal=first_deal + MAX_SIDE_DECKS,
        )
        return play_sequential_side_match(
            setup,
            recipe.decision.test,
            max_decks=recipe.decision.decks,
            fresh_decks=recipe.decision.fresh_decks,
            runner=runner,
            tell=tell,
        )

    def decision_games(self, recipe: SideTournamentRecipe) -> int:
        """See ``Kind``."""
        return _GAMES_PER_DECK * recipe.decision.decks

    def decision(self, report: SideSequentialReport | None, names: dict[str, str]) -> dict[str, Any]:
        """See ``Kind``."""
        if report is None:
            return {"test": None, "match": None}
        values = report.to_json()
        return {"match": values.pop("fresh_match"), "test": values}

    def figures(self, report: SideSequentialReport) -> dict[str, float]:
        """See ``Kind``."""
        outcome, fresh = report.outcome, report.fresh
        share = outcome.intervals["share"]
        figures: dict[str, float] = {
            "decision_decks": outcome.deals,
            "log_likelihood_ratio": outcome.log_likelihood_ratio,
            "always_valid/share_low": share.low,
            "always_valid/share_high": share.high,
        }
        if fresh is not None:
            for name in ("share", "points"):
                found = fresh.figures[name]
                figures |= {name: found.mean, f"{name}_low": found.interval.low, f"{name}_high": found.interval.high}
            figures["decks"] = fresh.deals
        return figures

    def live(self, recipe: SideTournamentRecipe, state: LiveState) -> str:
        """See ``Kind``."""
        config, outcome = recipe.decision, state.outcome
        played, fresh = (math.floor(games / _GAMES_PER_DECK) for games in (state.played, state.fresh))
        text = f"{number(played)} of at most {number(config.decks)} decks have been played. "
        claim = f"that the candidate wins {100 * (0.5 + config.test.difference):g} % of the games"
        body = report_page.paragraph(text + words_of_test(state, claim=claim, unit="decks", per_deal=1))
        if outcome is None:
            return body
        if outcome.decision == "better":
            text = f"{number(fresh)} of {number(config.fresh_decks)} new decks have been played. "
            body += report_page.paragraph(text + "Their figures are those of the report.")
        share = outcome.intervals["share"]
        note = share_interval([share.low, share.high])
        line = Line(value=None, low=share.low, high=share.high, colour=2 if share.low > 0.5 else 0, note=note)
        picture = interval_chart(
            [line], "The deciding match so far", axis_title="share of games won", zero=0.5, sides=("worse", "better")
        )
        return body + report_page.figure(picture, "Share of games that the candidate wins", _NOTE)

    def section(self, decision: Decision) -> str:
        """See ``Kind``."""
        test, match = decision["test"], decision["match"]
        if test is None:
            return ""
        text = (
            f"{decision['candidate']} played against {decision['opponent']} until it was decided whether it wins "
            f"{_wanted(test)} of the games, with at most {100 * test['error']:g} % errors of each kind: "
            f"{test['verdict'].replace('_', ' ')} after {number(test['decks'])} decks, each played twice with the "
            f"sides swapped (log-likelihood ratio {decimal(test['log_likelihood_ratio'])}; the match ends at "
            f"±{decimal(test['bound'])}). Always-valid 95 % interval of the share of games won: "
            f"{share_interval(test['always_valid_interval'])}."
        )
        if match is None:
            return report_page.paragraph(text)
        sides = [key.removeprefix("wp_") for key in match if key.startswith("wp_")]
        rows = [(side, match[f"wp_{side}"], match[f"adp_{side}"]) for side in sides]
        cells = [
            (
                name,
                percent(wins["mean"], 1),
                share_interval(wins["interval"]) + widened_mark(wins),
                difference(points["mean"]),
                interval(points["interval"], 3),
            )
            for name, wins, points in [*rows, ("both", match["share"], match["points"])]
        ]
        columns = ("candidate as", "games won", "95 % interval", "points per game", "95 % interval")
        about = f"On {number(match['decks'])} new decks, each played twice with the sides swapped."
        about += widened_about(cells)
        return report_page.paragraph(text) + report_page.table(columns, cells, about=about)

    def is_worse(self, decision: Decision) -> bool:
        """See ``Kind``."""
        return bool(decision["test"]["always_valid_interval"][1] < 0.5)

    def stop_text(self, decision: Decision) -> str:
        """See ``Kind``."""
        test, found = decision["test"], self.outcome(decision)
        bounds = f"always-valid 95 % interval {share_interval(test['always_valid_interval'])} of the games won"
        played = f"{number(test['decks'])} decks ({bounds})"
        if found == "worse":
            return f"it is worse, after {played}"
        if found == "undecided":
            return f"undecided after {played}, about {number(test['expected_decks'])} more are needed"
        return f"it does not win {_wanted(test)} of the games, decided after {played}"

    def pass_text(self, decision: Decision) -> str:
        """See ``Kind``."""
        return f"{_fresh_text(decision['match'])}; decided after {number(decision['test']['decks'])} decks"

    def evidence(self, decision: Decision, version: str | None) -> Evidence:
        """See ``Kind``."""
        match, test = decision["match"], decision["test"]
        found = self.outcome(decision)
        if test is None:
            return Evidence(outcome=found)
        opponent = f"{decision['opponent']} (version {version})" if version else decision["opponent"]
        if match is None:
            low, high = test["always_valid_interval"]
            why = (
                f'Not promoted: the match against {opponent} ended with "{found.replace("_", " ")}" '
                f"after {test['decks']:,} decks. Share of games won: {share_interval([low, high])} (always-valid 95 % "
                "interval)."
            )
            tags = {"share_low": f"{low:g}", "share_high": f"{high:g}", "decision_decks": str(test["decks"])}
            return Evidence(outcome=found, why=why, tags=tags)
        why = (
            f"Against {opponent}: {_fresh_text(match)}. Before, a sequential test had decided after "
            f"{test['decks']:,} other decks that it is better (difference {test['difference']:g} of the games won, at "
            f"most {100 * test['error']:g} % errors)."
        )
        low, high = match["share"]["interval"]
        figures = {"share": match["share"]["mean"], "share_low": low, "share_high": high}
        figures |= {"points": match["points"]["mean"], "decks": match["decks"], "decision_decks": test["decks"]}
        return Evidence(outcome=found, why=why, metrics={f"promotion/{name}": value for name, value in figures.items()})

    def verdict(self, table: Row, decision: Decision, promotion: Row) -> Verdict:
        """See ``Kind``; if there was no candidate, who has the highest rating.

        The rating of the anchor is always the same, so the next one is named too.
        """
        if decision["candidate"] is not None:
            sentence = f"{promotion['reason'][:1].upper()}{promotion['reason'][1:]}."
            return Verdict(outcome=self.outcome(decision), sentence=sentence)
        first, second, *_ = table["agents"]
        if first["name"] == table["anchor"]:
            sentence = f"The highest rating: {first['name']} (always 1,000), then {_rated(second)}."
        else:
            sentence = f"The highest rating: {_rated(first)}, where {rating_scale(table)}."
        return Verdict(outcome="none", sentence=sentence)

    def sample_page(self, context: Context, entrants: Mapping[str, Entrant]) -> tuple[str, int] | None:
        """See ``Kind``: the first deck of the night."""
        recipe, night, pool = context.recipe, context.upstream[LEADERBOARD], context.upstream[POOL]
        games = read_json(night / GAMES_NAME)["games"]
        ranked = [entrants[row["digest"]] for row in read_json(night / TABLE_NAME)["agents"]]
        strongest = next((entrant for entrant in ranked if entrant.has_nets), None)
        if strongest is None:
            return None
        other = next(entrant for entrant in ranked if entrant is not strongest)
        first, second = ((each.name, load_side_player(self.game, each.address_in(pool))) for each in (strongest, other))
        title = f"{recipe.name}, {recipe.night}: {strongest.name} against {other.name}"
        seed = min(wall for wall, _, _ in games)
        return deck_page(self._game, recipe.rules, (first, second), seed=seed, title=title), 2


def _decks_of(seed: int) -> range:
    """Return all decks that a seed has."""
    first = _FIRST_DECK + MAX_SIDE_DECKS * seed
    return range(first, first + MAX_SIDE_DECKS)


def _cells(row: Row, sides: Sequence[str]) -> list[str]:
    cells = [number(row["rating"]), interval(row["interval"], 0), number(row["games"])]
    for side in sides:
        wins, points = row["sides"][side]["wp"], row["sides"][side]["adp"]
        cells += ["–" if wins is None else percent(wins), "–" if points is None else decimal(points)]
    return cells


def _fresh_text(match: Mapping[str, Any]) -> str:
    """Return the figures of the match on new decks."""
    share, points = match["share"], match["points"]
    low, high = points["interval"]
    return (
        f"{percent(share['mean'], 1)} of the games won (95 % interval {share_interval(share['interval'])}"
        f"{widened_note(share.get('is_widened', False), 'decks')}) and "
        f"{points['mean']:+.3f} points per game ({low:+.3f} to {high:+.3f}) over {number(match['decks'])} new decks"
    )


def share_interval(bounds: list[float]) -> str:
    """Return an interval of a share of games, such as ``49.2 to 51.0 %``."""
    low, high = bounds
    return f"{100 * low:.1f} to {100 * high:.1f} %"


def _wanted(test: Mapping[str, Any]) -> str:
    return f"{100 * (0.5 + test['difference']):g} %"


def _rated(row: Mapping[str, Any]) -> str:
    bounds = f"95 % interval {interval(row['interval'], 0)}" if row["interval"] else "one deck, no interval"
    return f"{row['name']} with {number(row['rating'])} ({bounds})"
