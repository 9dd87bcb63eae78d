"""A tournament of a game of four seats: hanchans on walls that are played four times, with rotated seats."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from suphx.evaluation.game_runner import GameRunner, LoadAgent
from suphx.evaluation.kept_results import RECORDS_FOLDER
from suphx.evaluation.match import MatchSetup
from suphx.evaluation.match_config import MIN_CLUSTERS, SEATS, MeasureName, chosen_seatings, widened_note
from suphx.evaluation.player_statistics import STATISTICS_COLUMNS, STATISTICS_RATIOS
from suphx.evaluation.rating import RatedGame
from suphx.evaluation.sequential import SequentialOutcome, SequentialReport, play_sequential_match
from suphx.evaluation.statistics import Interval
from suphx.evaluation.tournament import head_to_head, placements_of
from suphx.games.registry import decision_names, load_game
from suphx.games.scoring import DEALS_PER_SEED, deal_seeds
from suphx.models.checkpoint import load_header
from suphx.selfplay.agents.checkpoint_folder import WEAK, checkpoint_names, find_checkpoint, split_address
from suphx_pipelines.charts.comparison_charts import Row as Line
from suphx_pipelines.charts.comparison_charts import Spoke, interval_chart, placement_chart, radar_chart
from suphx_pipelines.charts.plot import Figure
from suphx_pipelines.recipe.tournament_recipe import TournamentRecipe
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_matches import PLACE_LEGEND
from suphx_pipelines.report.report_page import (
    decimal,
    difference,
    found_interval,
    interval,
    number,
    percent,
    widened_about,
)
from suphx_pipelines.runs.provenance import digest_json
from suphx_pipelines.runs.verdict import Outcome, Verdict
from suphx_pipelines.tournament import riichi_nights
from suphx_pipelines.tournament.entrants import COPIES, Entrant, digest_of_files, empty_folders
from suphx_pipelines.tournament.history import GAMES_NAME, LEADERBOARD, PLAYING_MODULES, GameCode, read_games
from suphx_pipelines.tournament.kind import Context, Decision, Evidence, Kind, Night, deal_seed
from suphx_pipelines.tournament.pages import MOST_LINES, LiveState, Row, Sections, ratings_figure, titled, words_of_test
from suphx_platform.agents.agent_forms import follows_whole_games, split_wrapper
from suphx_platform.agents.agent_loading import load_any_agent
from suphx_platform.agents.agent_source import AgentSource, FoundCheckpoint
from suphx_platform.kernels.kernel_warmup import compile_kernels

_FRESH_KEYS = ("fresh_match", "other_seatings")
"""Of the report of a test: matches on new walls, which are kept under keys of their own."""
_UNITS: Mapping[MeasureName, str] = {"placement": "places", "points": "points per hanchan"}
_MEASURES: Mapping[MeasureName, tuple[str, int]] = {
    "placement": ("average placement", 3),
    "points": ("points per hanchan", 1),
}
STYLE = ("win_rate", "deal_in_rate", "riichi_rate", "call_rate", "average_win_turn")
"""Ratios of the counters of a game that say how an agent plays."""
_SPOKES = (
    Spoke(name="wins", inner=0.0, outer=0.35),
    Spoke(name="few deal-ins", inner=0.25, outer=0.0),
    Spoke(name="riichi", inner=0.0, outer=0.4),
    Spoke(name="calls", inner=0.0, outer=0.6),
    Spoke(name="early wins", inner=16.0, outer=8.0),
)
_NOTE = (
    "Below zero the candidate is better: at −0.100 one candidate among three opponents comes 2.400th on average. The "
    "95 % interval holds at all times of the match together."
)
_NO_MEAN = (
    " The mean of these games is not shown: a match that stops when the candidate looks good has one that is too good."
)


_FILES: Mapping[str, Mapping[str, str]] = {
    "leaderboard": {
        "games/wall-<n>-agents-<digest>.json": (
            "`places` [rotations][seats]; `rows` {agent: sum of `game_row` over the rotations}; `forfeits` [[agent, "
            "reason, rotation, seat]] if a program could not play a game to the end: its place is then the last"
        ),
        "games.json": (
            "tonight's games: `rules` and `engine` (digests), `night`, `draw_lanes`, `agents` [{digest, name}], "
            "`games` [[seed of the wall, agent at each seat, place of each seat]]"
        ),
        "table.json": (
            "`walls` (tonight), `earlier_hanchans`, `anchor`, `is_anchored` (it has played), `agents` [{name, "
            "is_candidate, is_champion, rating, "
            "interval [2] or null (fewer than two walls), hanchans, placements [4 counts], average_placement, "
            "against_champion {difference, interval [2], is_widened} or null (fewer than six walls), "
            "forfeits (tonight), and one of the reasons, digest, "
            "style {win_rate, deal_in_rate, riichi_rate, call_rate, average_win_turn} (tonight)}], "
            "strongest first; `pairings` [row][column]: in how many common games of all nights the agent of the "
            "row came before that of the column; `nights` [{run, night, ratings {digest: [rating, low, high]}}], "
            "as published each night; null: no interval"
        ),
    },
    "decision": {
        "decision.json": (
            "`candidate`, `opponent`, `test` (as in `suphx evaluate --sequential --json`, without `fresh_match` and "
            "`other_seatings`) or null, `match` (on new walls, as in `suphx evaluate --json`) or null if there was "
            "no pass, `other_seatings` (the same by seating, if `decision.test.seating` is `all`), `is_won`"
        ),
        "games/walls-<first>-<last>.json": (
            "`rows` [candidate, three opponents][games][columns of `player_statistics.py`]; `forfeits` [[0 "
            "candidate or 1 opponent, reason, game, seat]] if there were any"
        ),
        "games/fresh/": "the games on new walls",
        "records/, records/fresh/": "records of all these games, as `evaluation/records/` of a run",
    },
    "sample_game": {
        "game.html": "one game of the night's strongest net in the viewer; missing if no agent with nets has played",
    },
    "report": {
        "game.html": "the game in `sample_game/`",
        "game_best_<n>.html, game_worst_<n>.html": "the candidate's best and worst games in the decision",
        "leaderboard.svg, nights.svg, pairings.svg, style.svg": "the report's figures",
    },
}


class SeatKind(Kind):
    """Counts hanchans on walls."""

    deals, games = "walls", "hanchans"
    games_per_deal = SEATS
    least = SEATS
    nothing_new = "no checkpoint is new"
    result_keys = ("rating", "interval", "hanchans", "average_placement")
    game_title = "Games to look at"
    game_text = "Watch one game of the strongest nets step by step, with their probabilities at each decision"
    files = _FILES

    def code(self, recipe: TournamentRecipe) -> GameCode:
        """See ``Kind``."""
        game = load_game(self.game)
        rules = digest_json(game.rules_values(game.new_rules({})))
        return GameCode(rules=rules, num_seats=SEATS, modules=PLAYING_MODULES)

    @property
    def net_files(self) -> Sequence[str]:
        """See ``Kind``."""
        return checkpoint_names()

    def newest(self, source: AgentSource, place: str, recipe: TournamentRecipe) -> Sequence[FoundCheckpoint]:
        """See ``Kind``."""
        return source.newest(place)

    def enter(
        self,
        recipe: TournamentRecipe,
        source: AgentSource,
        folder: Path,
        number: int,
        name: str,
        address: str,
        is_candidate: bool,
    ) -> Entrant:
        """See ``Kind``."""
        copy, space = empty_folders(folder, number)
        wrapper, nets = split_wrapper(address)
        fetched, words = split_address(source.fetch(nets, space))
        is_net = Path(fetched).is_dir()
        if is_net:
            _copy_nets(Path(fetched), copy)
            shutil.rmtree(space, ignore_errors=True)
            fetched = f"{COPIES}{number}"
        told = ",".join(sorted(words))
        entrant = Entrant(
            name=name,
            address=f"{wrapper}{fetched}{told and ':'}{told}",
            digest=address,
            is_candidate=is_candidate,
            stored=tuple(source.stored.get(nets, ())),
        )
        load_any_agent(entrant.address_in(folder))
        files = [copy / file for file in checkpoint_names(is_weak=WEAK in words)]
        if is_net:
            entrant = replace(entrant, digest=wrapper + digest_of_files(files) + ",".join(sorted(words - {WEAK})))
        if is_candidate and any(getattr(load_header(file).net, "num_oracle_planes", 0) for file in files):
            raise ValueError("it sees what is hidden from players")
        return entrant

    def load(self, recipe: TournamentRecipe, console: Any) -> LoadAgent:
        """See ``Kind``."""
        compile_kernels(console, *load_game(self.game).kernel_groups)
        return load_any_agent

    def num_deals(self, recipe: TournamentRecipe) -> int:
        """See ``Kind``."""
        return recipe.leaderboard.hanchans // SEATS

    def check_size(self, recipe: TournamentRecipe, num_agents: int) -> None:
        """See ``Kind``."""
        hanchans, least = recipe.leaderboard.hanchans, SEATS * num_agents
        if hanchans < least:
            raise ValueError(f"leaderboard.hanchans is {hanchans} for {num_agents} agents: use at least {least}")

    def setup(self, context: Context, earlier: Sequence[RatedGame]) -> dict[str, Any]:
        """See ``Kind``."""
        return {"seed": deal_seed(context, earlier, _walls_of), "options": self._options(context.recipe)}

    def facts(self, recipe: TournamentRecipe) -> dict[str, Any]:
        """See ``Kind``."""
        return {"night": recipe.night, "draw_lanes": recipe.draw_lanes}

    def _options(self, recipe: TournamentRecipe) -> dict[str, Any]:
        return {"has_draw_lanes": recipe.draw_lanes}

    def replay(self, recipe: TournamentRecipe, night: Row) -> dict[str, Any]:
        """See ``Kind``."""
        return {"options": {"has_draw_lanes": night["draw_lanes"]}}

    def row(self, night: Night, entrant: Entrant, games: Sequence[RatedGame]) -> dict[str, Any]:
        """See ``Kind``."""
        pool = night.pool
        champion = None if pool.champion is None else pool.entrants[pool.champion]
        places = placements_of(games, entrant.digest)
        lost = night.forfeits.to_json([other.name for other in pool.entrants])
        return {
            "placements": [int(np.count_nonzero(places == rank)) for rank in range(1, SEATS + 1)],
            "average_placement": float(places.mean()),
            "against_champion": _against(games, entrant, champion),
            "style": _style_of(night.rows.get(entrant.digest)),
            **lost.get(entrant.name, {"forfeits": 0}),
        }

    def leaderboard(self, table: Row, names: Sequence[str]) -> str:
        """See ``Kind``."""
        rows = table["agents"]
        text = (
            f"Lineups of four agents played {number(table['walls'])} walls tonight, with four rotations of the seats "
            "each. "
            f"The figures are from these games and from {number(table['earlier_hanchans'])} games of earlier nights. "
            f"{names[0]} has the highest rating."
        )
        places = placement_chart(
            [(name, row["placements"]) for name, row in zip(names, rows, strict=True)], "Placements of the agents"
        )
        body = report_page.paragraph(text) + report_page.side_by_side(
            report_page.figure(*ratings_figure(table, names)),
            report_page.figure(places, "Placements", "Dashed: equal players.", PLACE_LEGEND),
        )
        columns = {"rating": "rating", "interval": "95 % interval", "hanchans": "hanchans",
                   "placement": "average placement",
                   "champion": "against the champion", "forfeits": "forfeited games"}  # fmt: skip
        cells = [_cells(row) for row in rows]
        shown = [key for key in columns if any(row[key] != "–" for row in cells)]
        about = "Average placement: 2.50 is that of equal players, lower is better."
        if table["walls"] < MIN_CLUSTERS and not table["earlier_hanchans"]:
            about += f" Over so few walls the intervals mean little: play at least {MIN_CLUSTERS}."
        if "champion" in shown:
            about += " Against the champion: difference of placements in their common games, with a 95 % interval."
        if "forfeits" in shown:
            about += " Forfeited games: the agent's program crashed, was late or answered what cannot be played. "
            about += "They count as last place."
        return body + report_page.table(
            ("agent", *(columns[key] for key in shown)),
            [(name, *(row[key] for key in shown)) for name, row in zip(titled(rows, names), cells, strict=True)],
            about=about + widened_about([*row.values()] for row in cells),
        )

    def style(self, table: Row, names: Sequence[str]) -> Sections:
        """See ``Kind``."""
        styles = _styles(table["agents"], names)
        if not styles:
            return [("Style", "")]
        columns = ("agent", "wins", "deal-ins", "riichi", "calls", "discards before a win")
        *shares, turn = STYLE
        cells = [(name, *(percent(style[key]) for key in shares), decimal(style[turn], 1)) for name, style in styles]
        return [("Style", report_page.figure(*_style_figure(styles)) + report_page.table(columns, cells))]

    def style_figures(self, table: Row, names: Sequence[str]) -> dict[str, Figure]:
        """See ``Kind``."""
        return {"style.svg": _style_figure(_styles(table["agents"], names))}

    def csv_row(self, row: Row) -> dict[str, Any]:
        """See ``Kind``."""
        return {key: row[key] for key in ("hanchans", "average_placement")}

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
        """See ``Kind``."""
        config = context.recipe.decision
        setup = MatchSetup(
            candidate,
            opponent,
            seed=deal_seed(context, played, _walls_of),
            game=self.game,
            options=self._options(context.recipe),
            deals_per_task=1 if any(map(follows_whole_games, (candidate, opponent))) else 0,
        )
        records = context.folder / RECORDS_FOLDER
        report = play_sequential_match(
            setup,
            config.test,
            max_hanchans=config.hanchans,
            fresh_hanchans=config.fresh_hanchans,
            runner=replace(runner, records=records),
            tell=tell,
        )
        riichi_nights.tidy_records(records, report.outcome.deals)
        return report

    def decision_games(self, recipe: TournamentRecipe) -> int:
        """See ``Kind``."""
        return recipe.decision.hanchans

    def decision(self, report: SequentialReport | None, names: dict[str, str]) -> dict[str, Any]:
        """See ``Kind``."""
        if report is None:
            return {"test": None, "match": None, "other_seatings": {}}
        return {
            "test": {key: value for key, value in report.to_json().items() if key not in _FRESH_KEYS} | names,
            "match": None if report.fresh is None else report.fresh.to_json() | names,
            "other_seatings": {match.seating: match.to_json() | names for match in report.other_seatings},
        }

    def figures(self, report: SequentialReport) -> dict[str, float]:
        """See ``Kind``."""
        figures: dict[str, float] = {
            "decision_hanchans": report.outcome.hanchans,
            "log_likelihood_ratio": report.outcome.log_likelihood_ratio,
        }
        for name, found in report.outcome.intervals.items():
            figures |= {f"always_valid/{name}_low": found.low, f"always_valid/{name}_high": found.high}
        if report.fresh is not None:
            for name, own in (("difference", report.fresh.difference), ("points", report.fresh.points_difference)):
                figures |= {name: own.mean, f"{name}_low": own.interval.low, f"{name}_high": own.interval.high}
            figures["hanchans"] = report.fresh.hanchans
        for match in report.other_seatings:
            low, high = match.difference.interval.low, match.difference.interval.high
            names = (f"difference_{match.seating}{end}" for end in ("", "_low", "_high"))
            figures |= dict(zip(names, (match.difference.mean, low, high), strict=True))
        return figures

    def warnings(self, decision: Decision) -> Iterable[str]:
        """See ``Kind``."""
        for seating in contrary_seatings(decision):
            yield (
                f"{decision['candidate']} passes, but in {seating} it is worse than {decision['opponent']}: see the "
                "report"
            )

    def title(self, recipe: TournamentRecipe, candidate: str, opponent: str) -> str:
        """See ``Kind``."""
        seating = chosen_seatings(recipe.decision.test.seating)[0]
        if seating != "1v3":
            return f"The deciding match ({seating}): {candidate} against {opponent}."
        return f"The deciding match: {candidate} against three {opponent}."

    def live(self, recipe: TournamentRecipe, state: LiveState) -> str:
        """See ``Kind``."""
        config, test, outcome = recipe.decision, recipe.decision.test, state.outcome
        text = f"{number(math.floor(state.played))} of at most {number(config.hanchans)} hanchans have been played. "
        claim = f"that the candidate is better by {test.difference:g} {_UNITS[test.decides]}"
        text += words_of_test(state, claim=claim, unit="hanchans", per_deal=SEATS)
        body = report_page.paragraph(text)
        if outcome is not None and outcome.decision == "better":
            num_fresh = config.fresh_hanchans * len(chosen_seatings(test.seating))
            body += report_page.paragraph(
                f"{number(math.floor(state.fresh))} of {number(num_fresh)} hanchans have been played on new walls. "
                "Their figures are those of the report."
            )
        if outcome is None or not outcome.deals:
            return body
        note = _NOTE if _shows_mean(outcome) else _NOTE + _NO_MEAN
        return (
            body + report_page.figure(_picture(outcome), "Difference of the average placement", note) + _table(outcome)
        )

    def section(self, decision: Decision) -> str:
        """See ``Kind``."""
        if decision["test"] is None:
            return ""
        test, match = decision["test"], decision["match"]
        bounds = test["always_valid_intervals"]
        rows = [
            ("average placement", interval(bounds["placement"], 3), *_fresh_cells(match, "paired_difference", 3)),
            ("points per hanchan", interval(bounds["points"], 1), *_fresh_cells(match, "points_difference", 1)),
        ]
        unit = "places" if test["decides"] == "placement" else "points per hanchan"
        text = (
            f"The match ({chosen_seatings(test['seating'])[0]}) was played until it was decided whether the candidate "
            f"is better by {test['difference']:g} {unit}, with at most {100 * test['error']:g} % errors of each kind: "
            f"{test['verdict'].replace('_', ' ')} after {number(test['hanchans'])} hanchans (log-likelihood ratio "
            f"{decimal(test['log_likelihood_ratio'])}; the match ends at ±{decimal(test['bound'])})."
        )
        points = ", ".join(map(str, test["points"]))
        about = f"Candidate minus what an equal agent would reach. Points for first to fourth place: {points}."
        columns = ("difference", "always-valid 95 % interval", "on new walls", "95 % interval on new walls")
        shown = columns if match else columns[:2]
        decided = report_page.table(shown, [row[: len(shown)] for row in rows], about=about + widened_about(rows))
        return report_page.paragraph(text) + decided + _seatings_table(decision)

    def is_worse(self, decision: Decision) -> bool:
        """See ``Kind``; the average placement says it."""
        return bool(decision["test"]["always_valid_intervals"]["placement"][0] > 0)

    def stop_text(self, decision: Decision) -> str:
        """See ``Kind``."""
        test, found = decision["test"], self.outcome(decision)
        is_placement = test["decides"] == "placement"
        unit = "places" if is_placement else "points per hanchan"
        shown = interval(test["always_valid_interval"], 3 if is_placement else 1)
        bounds = f"always-valid 95 % interval {shown} {unit}"
        played = f"{test['hanchans']:,} hanchans ({bounds})"
        if found == "worse":
            return f"it is worse, after {played}"
        if found == "undecided":
            return f"undecided after {played}, about {test['expected_hanchans']:,.0f} more are needed"
        return f"not better by {test['difference']:g} {unit}, decided after {played}"

    def pass_text(self, decision: Decision) -> str:
        """See ``Kind``."""
        decided = f"decided after {number(decision['test']['hanchans'])} hanchans"
        seatings = contrary_seatings(decision)
        contrary = f"; but it is worse than {decision['opponent']} in {' and '.join(seatings)}" if seatings else ""
        return f"{_fresh_text(decision['match'])}; {decided}{contrary}"

    def evidence(self, decision: Decision, version: str | None) -> Evidence:
        """See ``Kind``."""
        opponent, match, test = decision["opponent"], decision["match"], decision["test"]
        outcome = self.outcome(decision)
        if test is None:
            return Evidence(outcome=outcome)
        if match is None:
            return Evidence(outcome=outcome, why=_failure(test, outcome, opponent, version), tags=_bounds(test))
        others = decision["other_seatings"]
        why = _evidence(match, test, opponent, version) + _seatings(others)
        return Evidence(outcome=outcome, why=why, metrics=_evidence_figures(match, test, others))

    def verdict(self, table: Row, decision: Decision, promotion: Row) -> Verdict:
        """See ``Kind``: with the figures of the match on new walls, or with the always-valid interval."""
        sentence = f"{promotion['reason'][:1].upper()}{promotion['reason'][1:]}."
        test, match = decision["test"], decision["match"]
        if test is None:
            return Verdict(outcome=self.outcome(decision), sentence=sentence)
        if match is not None:
            found = match["paired_difference"]
            low, high = found["interval"]
            return Verdict(
                outcome=self.outcome(decision),
                sentence=sentence,
                difference=found["average_placement"],
                low=low,
                high=high,
                hanchans=match["hanchans"],
            )
        low, high = test["always_valid_intervals"]["placement"]
        return Verdict(outcome=self.outcome(decision), sentence=sentence, low=low, high=high, hanchans=test["hanchans"])

    def sample_page(self, context: Context, entrants: Mapping[str, Entrant]) -> tuple[str, int] | None:
        """See ``Kind``."""
        games = read_games(context.upstream[LEADERBOARD] / GAMES_NAME, self.code(context.recipe))
        return riichi_nights.sample_page(context, games, entrants, self._options(context.recipe))

    def decision_pages(self, context: Context, decision: Decision) -> Mapping[str, Any]:
        """See ``Kind``."""
        return riichi_nights.decision_pages(context, decision)


def _walls_of(seed: int) -> range:
    """Return all walls of a seed."""
    return deal_seeds(seed, DEALS_PER_SEED)


def _copy_nets(source: Path, target: Path) -> None:
    target.mkdir(parents=True)
    for head in decision_names():
        shutil.copy2(find_checkpoint(source, head, is_weak=False), target)
        try:
            weak = find_checkpoint(source, head, is_weak=True)
        except ValueError:  # not every training leaves weak ones
            continue
        shutil.copy2(weak, target)


def _against(games: Sequence[RatedGame], entrant: Entrant, champion: Entrant | None) -> dict[str, Any] | None:
    """Return the difference to the champion in their common games; None with few common walls."""
    if champion is None or entrant is champion:
        return None
    pair = {entrant.digest, champion.digest}
    if len({game.wall for game in games if pair <= set(game.seats)}) < MIN_CLUSTERS:
        return None
    difference = head_to_head(games, entrant.digest, champion.digest)
    interval = difference.interval
    return {
        "difference": difference.mean,
        "interval": [interval.low, interval.high],
        "is_widened": interval.is_widened,
    }


def _style_of(row: Any) -> dict[str, float | None]:
    """Return the ratios of ``STYLE`` over tonight's games; None where there is nothing to divide by."""
    if row is None:
        return dict.fromkeys(STYLE)
    sums = dict(zip(STATISTICS_COLUMNS, row.tolist(), strict=True))
    pairs = {name: STATISTICS_RATIOS[name] for name in STYLE}
    return {name: sums[above] / sums[below] if sums[below] else None for name, (above, below) in pairs.items()}


def _styles(rows: Sequence[Row], names: Sequence[str]) -> list[tuple[str, Row]]:
    """Return name and style of the agents that have played tonight."""
    styles = [(name, row["style"]) for name, row in zip(names, rows, strict=True)]
    return [(name, style) for name, style in styles if style["win_rate"] is not None]


def _style_figure(styles: Sequence[tuple[str, Row]]) -> Figure:
    """Return the picture of the strongest agents."""
    title = "How the agents play"
    edges = "Tonight's deals. Edge: 35 % wins, no deal-ins, 40 % riichi, 60 % calls, wins after 8 discards."
    legend = [(f"k{index}", name) for index, (name, _) in enumerate(styles[:MOST_LINES])]
    drawn = [(name, [math.nan if style[key] is None else style[key] for key in STYLE]) for name, style in styles]
    return Figure(radar_chart(_SPOKES, drawn[:MOST_LINES], title), title, edges, legend)


def _cells(row: Row) -> dict[str, str]:
    against = row["against_champion"]
    return {
        "rating": number(row["rating"]),
        "interval": interval(row["interval"], 0),
        "hanchans": number(row["hanchans"]),
        "placement": decimal(row["average_placement"], 3),
        "forfeits": number(row["forfeits"]) if row["forfeits"] else "–",
        "champion": f"{difference(against['difference'])} ({found_interval(against, 3)})" if against else "–",
    }


def _picture(outcome: SequentialOutcome) -> str:
    found = outcome.intervals["placement"]
    mean = _middle(found) if _shows_mean(outcome) else None
    bounds = interval([found.low, found.high], 3)
    note = bounds if mean is None else f"{difference(mean)} ({bounds})"
    row = Line(value=mean, low=found.low, high=found.high, colour=2 if found.high < 0 else 0, note=note)
    return interval_chart(
        [row], "The deciding match so far", axis_title="difference of the average placement", zero=0.0,
        sides=("better", "worse"),
    )  # fmt: skip


def _table(outcome: SequentialOutcome) -> str:
    rows = []
    for name, (title, digits) in _MEASURES.items():
        found = outcome.intervals[name]
        mean = (difference(_middle(found), digits),) if _shows_mean(outcome) else ()
        rows.append((title, *mean, interval([found.low, found.high], digits)))
    columns = ("so far",) if _shows_mean(outcome) else ()
    return report_page.table(("difference", *columns, "always-valid 95 % interval"), rows)


def _middle(found: Interval) -> float:
    """Return the mean of the games so far: the interval has the same length on both sides of it."""
    return (found.low + found.high) / 2


def _shows_mean(outcome: SequentialOutcome) -> bool:
    """Tell whether the mean so far is shown: that of a match that has stopped is too good."""
    return outcome.decision == "undecided"


def contrary_seatings(decision: Mapping[str, Any]) -> list[str]:
    """Return the other seatings in which a candidate that has passed is worse: the whole 95 % interval says so.

    ``decision``: what the decision stage has left; the measure is the one that decided.
    """
    is_placement = decision["test"]["decides"] == "placement"
    bounds = {
        seating: match["paired_difference" if is_placement else "points_difference"]["interval"]
        for seating, match in decision["other_seatings"].items()
    }
    return [seating for seating, (low, high) in bounds.items() if (low > 0 if is_placement else high < 0)]


def _fresh_text(match: Mapping[str, Any]) -> str:
    """Return the figures of the match on new walls."""
    places, points = match["paired_difference"], match["points_difference"]
    return (
        f"placement difference {difference(places['average_placement'])} (95 % interval "
        f"{interval(places['interval'], 3)}{widened_note(places.get('is_widened', False))}) and "
        f"{difference(points['per_hanchan'], 1)} points per hanchan "
        f"({interval(points['interval'], 1)}) over {match['hanchans']:,} hanchans on new walls"
    )


def _seatings_table(decision: Mapping[str, Any]) -> str:
    """Return the matches on new walls in all seatings as a table; empty if there was only one."""
    others = decision["other_seatings"]
    if not others:
        return ""
    first = decision["match"]
    rows = [
        (
            name,
            number(match["hanchans"]),
            *_fresh_cells(match, "paired_difference", 3),
            *_fresh_cells(match, "points_difference", 1),
        )
        for name, match in {first["seating"]: first, **others}.items()
    ]
    about = "On new walls, candidates against opponents at a table; all on the scale of 1v3."
    columns = ("seating", "hanchans", "placement", "95 % interval", "points per hanchan", "95 % interval")
    return report_page.table(columns, rows, about=about + widened_about(rows))


def _fresh_cells(match: Mapping[str, Any] | None, name: str, digits: int) -> tuple[str, str]:
    if match is None:
        return "–", "–"
    found = match[name]
    value = found["average_placement" if name == "paired_difference" else "per_hanchan"]
    return difference(value, digits), found_interval(found, digits)


def _evidence_figures(match: Mapping[str, Any], test: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, float]:
    """Return the figures of the matches on new walls."""
    figures: dict[str, float] = {}
    for ending, each in [("", match), *((f"_{seating}", other) for seating, other in others.items())]:
        found = each["paired_difference"]
        name = f"promotion/difference{ending}"
        figures |= {name: found["average_placement"]}
        figures |= {f"{name}_low": found["interval"][0], f"{name}_high": found["interval"][1]}
    return figures | {
        "promotion/hanchans": match["hanchans"],
        "promotion/average_placement": match["average_placement"],
        "promotion/points": match["points_difference"]["per_hanchan"],
        "promotion/decision_hanchans": test["hanchans"],
    }


def _bounds(test: Mapping[str, Any]) -> dict[str, str]:
    """Return tags of a candidate that was not promoted: the match that was stopped has no mean, only an interval."""
    low, high = test["always_valid_intervals"]["placement"]
    return {
        "difference_low": f"{low:g}",
        "difference_high": f"{high:g}",
        "decision_hanchans": str(test["hanchans"]),
    }


def _failure(test: Mapping[str, Any], outcome: Outcome, opponent: str, version: str | None) -> str:
    """Return why a candidate was not promoted."""
    low, high = test["always_valid_intervals"][test["decides"]]
    if test["decides"] == "placement":
        difference = f"Difference of the average placement, lower is better: {low:+.3f} to {high:+.3f}"
    else:
        difference = f"Difference in points per hanchan, higher is better: {low:+.1f} to {high:+.1f}"
    return (
        f"Not promoted: the match against {_named(opponent, version)} ended with "
        f'"{outcome.replace("_", " ")}" after {test["hanchans"]:,} hanchans. {difference} (always-valid 95 % '
        "interval)."
    )


def _named(opponent: str, version: str | None) -> str:
    return f"{opponent} (version {version})" if version else opponent


def _seatings(others: Mapping[str, Any]) -> str:
    """Return a sentence for each match in another seating; empty if there was none."""
    text = ""
    for name, match in others.items():
        found = match["paired_difference"]
        low, high = found["interval"]
        text += (
            f" With {name} at a table: {found['average_placement']:+.3f} ({low:+.3f} to {high:+.3f}) on the scale of "
            f"1v3, over {match['hanchans']:,} hanchans."
        )
    return text


def _evidence(match: Mapping[str, Any], test: Mapping[str, Any], opponent: str, version: str | None) -> str:
    """Return the figures of the match on new walls, and the decision before it."""
    found, points = match["paired_difference"], match["points_difference"]
    low, high = found["interval"]
    unit = "places" if test["decides"] == "placement" else "points per hanchan"
    seating = match.get("seating", "1v3")
    whom = _named(opponent, version)
    against = f"three {whom}" if seating == "1v3" else f"{whom} ({seating})"
    return (
        f"Average placement {match['average_placement']:.3f} against {against}, a difference of "
        f"{found['average_placement']:+.3f} (95 % interval {low:+.3f} to {high:+.3f}; lower is better), and "
        f"{points['per_hanchan']:+.1f} points per hanchan, over {match['hanchans']:,} hanchans on new walls. Before, "
        f"a sequential test had decided after {test['hanchans']:,} other hanchans that it is better "
        f"(difference {test['difference']:g} {unit}, at most {100 * test['error']:g} % errors)."
    )
