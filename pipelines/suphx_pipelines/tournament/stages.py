"""The stages of a tournament up to the promotion (tournament.py): who plays, the ratings, the deciding match.

Each leaves JSON in its folder (keys in docs/result_files.md), what its finished games leave, and, while games are
played, ``live.html`` (report.py). A stage that was killed continues with the games that it has not played yet.
"""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from suphx.evaluation.rating import count_ahead, rate_agents
from suphx.evaluation.sequential import SequentialOutcome, SequentialReport
from suphx.evaluation.tournament import PlayedLineup, Player, TournamentSetup, play_tournament
from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.report.report_page import Sections
from suphx_pipelines.runs.stage import write_note
from suphx_pipelines.runs.stage_folder import REPORT_NAME
from suphx_pipelines.tournament import history
from suphx_pipelines.tournament.kind import COPIES, POOL, POOL_NAME, Context, Entrant, Kind, Night, Pool, kind_of
from suphx_pipelines.tournament.match_texts import DECISION, DECISION_NAME, Decision, Evidence, Row
from suphx_pipelines.tournament.report import PROMOTION_NAME, LivePage, night_sections
from suphx_platform.agents.agent_source import AgentSource
from suphx_platform.storage.storage_config import STORAGE_SCHEMES
from suphx_platform.tracking import model_registry
from suphx_platform.tracking.model_registry import ModelRegistry, Promotion
from suphx_platform.tracking.tracking_ui import artifact_pages

_LINKED_NIGHTS = 30
"""The newest ones have a link in MLflow, whose descriptions are short."""
_MAX_LEFT_OUT = 50
"""Checkpoints that cannot play are fetched all the same; with so many, something else is wrong."""
_LONGEST_METRIC = 200  # MLflow takes 250
Enter = Callable[[Path, int, str, str, bool], Entrant]
"""Copies the nets of an agent into the folder: (folder, number in the pool, name, address, whether it is optional)."""

# the pool


def settle_pool(context: Context) -> dict[str, float]:
    """Copy the nets of those who play, so that nothing changes until the night is over, and the earlier nights.

    Leaves ``pool.json``, the nets under ``agents/<number in the pool>``, the games of earlier nights in
    ``history.json``, and ``note.md``: the links to earlier nights for MLflow. ValueError for an unknown agent, or if
    too few play.
    """
    recipe, kind, folder = context.recipe, kind_of(context.recipe), context.folder
    source, location = AgentSource(context.tracker.store, recipe.storage), newest_from(context)
    if recipe.pool.newest:
        try:
            source.check(location)
        except ValueError as error:
            raise ValueError(f"pool.newest_from: {error}") from error
        if recipe.pool.newest_from and not source.newest(location, kind.game):
            context.console.warn(
                f"pool.newest_from: {location} has no checkpoint with all nets: nobody can be promoted"
            )
    version = ModelRegistry(context.tracker.store, recipe.registry).champion()
    enter = partial(kind.enter, recipe, source)
    entrants, left_out = enter_agents(context, _wanted(context, kind, source, version), enter, least=kind.least)
    champion = [entrant.name for entrant in entrants].index(recipe.registry.address) if version else None
    named = recipe.decision.opponent if version is None else ""
    opponent = enter(folder, len(entrants), named, named, False) if named else None
    pool = Pool(entrants=tuple(entrants), champion=champion, version=version, left_out=left_out, opponent=opponent)
    write_json(folder / POOL_NAME, asdict(pool))
    code = kind.code(recipe)
    earlier = history.earlier_nights(recipe.name, folder.parent.name, folder.parents[1], recipe.storage, code)
    write_json(folder / history.HISTORY_NAME, history.history_json(earlier, code))
    pages = artifact_pages(context.tracker.store, f"{recipe.name}-", REPORT_NAME)
    texts = ["Under *Artifacts*: `live.html` is written every minute while games are played."]
    shown = [  # a night that was tracked elsewhere has no link
        f"[{night['night']}]({pages[night['run']]})" if night["run"] in pages else night["night"]
        for night in earlier.nights[: -_LINKED_NIGHTS - 1 : -1]
    ]
    texts += [f"Reports of earlier nights: {', '.join(shown)}"] if shown else []
    write_note(folder, "\n\n".join(texts))
    return {"agents": len(entrants), "candidates": sum(entrant.is_candidate for entrant in entrants)}


def _wanted(context: Context, kind: Kind, source: AgentSource, version: str | None) -> Iterator[tuple[str, str, bool]]:
    """Yield name, address and whether it is a candidate: the champion first, so that its twins are left out."""
    recipe = context.recipe
    if version is not None:
        yield recipe.registry.address, f"models:/{recipe.registry.model}/{version}", False
    for name in recipe.pool.agents:
        if name != recipe.registry.address:
            yield name, name, False
    if recipe.pool.newest and not kind.can_promote:
        context.console.say(f"nets of {kind.game} cannot be promoted yet: name those to be rated in pool.agents")
    elif recipe.pool.newest:
        for found in source.newest(newest_from(context), kind.game):
            yield found.name, found.address, True


def enter_agents(
    context: Context, wanted: Iterable[tuple[str, str, bool]], enter: Enter, *, least: int
) -> tuple[list[Entrant], dict[str, str]]:
    """Return who plays, and of those left out the name and why; ``wanted``: name, address, and whether it is optional.

    One that is optional and cannot play, or has the nets of another one, is left out, and the next one takes its place:
    ``pool.newest`` of them play, if there are as many. ValueError and OSError for the others, ValueError if fewer than
    ``least`` play.
    """
    entrants: list[Entrant] = []
    left_out: dict[str, str] = {}
    for name, address, is_optional in wanted:
        if sum(entrant.is_candidate for entrant in entrants) == context.recipe.pool.newest and is_optional:
            break
        if len(left_out) >= _MAX_LEFT_OUT:
            context.console.warn(f"{len(left_out)} checkpoints cannot play: older ones are not tried")
            break
        try:
            entrant = enter(context.folder, len(entrants), name, address, is_optional)
            twin = next((other.name for other in entrants if other.digest == entrant.digest), None)
            reason = f"the same nets as {twin}" if twin else None
        except (ValueError, FileNotFoundError, PermissionError) as error:  # not a full disk or a storage that is away
            if not is_optional:
                raise
            reason = str(error)
        if reason is None:
            entrants.append(entrant)
        else:
            left_out[name] = reason
            context.console.say(f"{name} does not play: {reason}")
    if len(entrants) < least:
        there = ", ".join(entrant.name for entrant in entrants) or "none"
        raise ValueError(
            f"only {len(entrants)} agents play ({there}), {least} are needed, and {newest_from(context)} has no other "
            "checkpoints: set pool.newest_from to a folder or storage with runs, or name more in pool.agents"
        )
    shutil.rmtree(context.folder / COPIES / str(len(entrants)), ignore_errors=True)  # of the last one if left out
    return entrants, left_out


def newest_from(context: Context) -> str:
    """Return the folder or storage in which checkpoints are looked for."""
    recipe = context.recipe
    address = recipe.storage.address
    own = address if address.startswith(STORAGE_SCHEMES) else str(context.folder.parents[1])
    location: str = recipe.pool.newest_from or own
    return location


# the leaderboard


def play_leaderboard(context: Context) -> dict[str, float]:
    """Play tonight's games and rate the agents by the games of all nights: ``games.json`` and ``table.json``."""
    recipe, folder, kind = context.recipe, context.upstream[POOL], kind_of(context.recipe)
    code, pool = kind.code(recipe), Pool.read(folder)
    num_deals = kind.num_deals(recipe, len(pool.entrants))
    night = Night(
        pool=pool,
        earlier=history.read_history(folder / history.HISTORY_NAME, code),
        anchor=recipe.leaderboard.anchor,
        name=recipe.night,
        run_id=context.folder.parent.name,
    )
    live = LivePage(context, "leaderboard", links_decision=True)

    def page_of(table: dict[str, Any]) -> tuple[str, Sections]:
        played, wanted = kind.games_per_result * len(night.games), kind.games_per_deal * num_deals
        text = f"{played:,} of tonight's {wanted:,} {kind.games} have been played."
        return text, night_sections(kind, table)

    def note(played: PlayedLineup) -> None:
        night.note(played)
        live.offer(lambda: page_of(table_of(kind, night)))

    setup = TournamentSetup(
        players=[Player(entrant.digest, entrant.address_in(folder), entrant.name) for entrant in pool.entrants],
        anchor=night.anchor_digest,
        earlier=night.earlier.games,
        game=kind.game,
        first_deal=kind.first_deal(context, night.earlier.games),
        **kind.tables(recipe),
    )
    with kind.runner(context, kind.games_per_deal * num_deals) as runner:
        games = play_tournament(setup, num_deals, runner=runner, note_lineup=note)
    names = {entrant.digest: entrant.name for entrant in pool.entrants}
    for sentence in night.forfeits.sentences(list(names.values())):
        context.warn(sentence)
    facts = {"night": recipe.night, "game": kind.game, "draw_lanes": recipe.draw_lanes}
    write_json(context.folder / history.GAMES_NAME, facts | history.games_json(games, names, code))
    table = table_of(kind, night)
    write_json(context.folder / history.TABLE_NAME, table)
    live.write_last(lambda: page_of(table))
    rows = table["agents"]
    ratings = zip(metric_names([row["name"] for row in rows]), (row["rating"] for row in rows), strict=True)
    return {"games": len(games), "earlier_games": table["earlier_games"]} | dict(ratings)


def table_of(kind: Kind, night: Night) -> dict[str, Any]:
    """Return the table of a night, the strongest agent first; agents without a game are left out."""
    games, pool = [*night.earlier.games, *night.games], night.pool
    ratings = rate_agents(games, anchor=night.anchor_digest)
    rated = [(entrant, ratings[entrant.digest]) for entrant in pool.entrants if entrant.digest in ratings]
    rated.sort(key=lambda each: -each[1].rating)
    rows = [
        {
            "name": entrant.name,
            "digest": entrant.digest,
            "rating": rating.rating,
            "interval": rating.interval and rating.interval.ends,
            "is_candidate": entrant.is_candidate,
            "is_champion": entrant is pool.champion_entrant,
            "games": rating.games,
            **kind.row(night, entrant, games),
        }
        for entrant, rating in rated
    ]
    return {
        "agents": rows,
        "deals": len({game.wall for game in night.games}),
        "earlier_games": len(night.earlier.games),
        "anchor": night.anchor,
        "is_anchored": any(night.anchor_digest in game.seats for game in games),
        "pairings": count_ahead(games, [entrant.digest for entrant, _ in rated]).tolist(),
        "nights": [*night.earlier.nights, history.night_of(night.run_id, night.name, rows)],
    }


def metric_names(names: list[str]) -> list[str]:
    """Return names of metrics that MLflow accepts: paths without empty parts and dots, short, none twice."""
    clean = [re.sub(r"[^\w. /-]", "_", name).split("/") for name in names]
    paths = ["/".join(part for part in parts if part.strip("."))[-_LONGEST_METRIC:].strip("/") for parts in clean]
    return [f"rating/{path if paths.count(path) == 1 else f'{path}_{index}'}" for index, path in enumerate(paths)]


# the deciding match


def decide(context: Context) -> dict[str, float]:
    """Let the best candidate play against the champion until the test has decided: ``decision.json``."""
    recipe, kind, folder = context.recipe, kind_of(context.recipe), context.upstream[POOL]
    night, code = context.upstream[history.LEADERBOARD], kind.code(recipe)
    table = read_json(night / history.TABLE_NAME)
    candidate, opponent, names = deciding_pair(Pool.read(folder), table["agents"], folder, recipe.decision.opponent)
    live = _LiveMatch(context, kind, table, names)
    if candidate is None or not opponent:
        live.finish({**live.decision, "is_won": candidate is not None})
        return {"is_won": float(candidate is not None)}
    played = history.read_history(folder / history.HISTORY_NAME, code).games
    played += history.read_games(night / history.GAMES_NAME, code)
    live.count(0)
    with kind.runner(context, recipe.decision.games, note=live.count) as runner:
        report = kind.decide(context, candidate.address_in(folder), opponent, played, runner=runner, tell=live.tell)
    for sentence in report.forfeits.sentences((candidate.name, names["opponent"])):
        context.warn(sentence)
    values = names | kind.decision(report, names) | {"is_won": report.outcome.decision == "better"}
    for sentence in kind.texts.warnings(values):
        context.warn(sentence)
    live.finish(values)
    return {"is_won": float(values["is_won"])} | kind.texts.figures(values)


def deciding_pair(
    pool: Pool, rows: Sequence[Mapping[str, Any]], folder: Path, opponent: str
) -> tuple[Entrant | None, str, dict[str, Any]]:
    """Return who plays the deciding match: the candidate or None, the address of its opponent, and both names.

    ``rows``: agents of the leaderboard, the strongest first. ``folder``: of the pool. ``opponent``: address of the one
    while there is no champion, if the pool has no copy of it; empty for none. The names are the keys ``candidate`` and
    ``opponent``, perhaps None.
    """
    best = next((row["name"] for row in rows if row["is_candidate"]), None)
    other = pool.champion_entrant or pool.opponent
    names = {"candidate": best, "opponent": other.name if other else opponent or None}
    return pool.named(best), other.address_in(folder) if other else opponent, names


class _LiveMatch:
    """Consumes: games, and the outcome of each look of the test. Produces: ``decision.json``, and the page so far."""

    def __init__(self, context: Context, kind: Kind, table: Row, names: dict[str, Any]) -> None:
        """``table``: the leaderboard of the night; ``names``: of candidate and opponent, None for one there is not."""
        self.decision: Decision = names | kind.decision(None, {})
        """What ``decision.json`` would say if the match ended now."""
        self._page = LivePage(context, "deciding match")
        self._context, self._kind, self._table, self._names = context, kind, table, names
        self._num_games = 0.0

    def count(self, games: float) -> None:
        """Note that parts of games are over."""
        self._num_games += games
        self._page.offer(partial(self._content, is_live=True))

    def tell(self, outcome: SequentialOutcome) -> None:
        """Take what the test says of the games so far."""
        kind, (candidate, opponent) = self._kind, self._names.values()
        test = self._context.recipe.decision.test
        played = f"{kind.scoring.num_games(test.deciding_seating) * outcome.deals:,} {kind.games}"
        self._context.console.detail(f"decision after {played}: {outcome.note(kind.scoring, test.deciding_seating)}")
        report = SequentialReport(
            candidate=candidate, opponent=opponent, seed=0, config=test, outcome=outcome, scoring=kind.scoring
        )
        self.decision = self._names | kind.decision(report, self._names)

    def finish(self, decision: Decision) -> None:
        """Write the page as it stays, and ``decision.json``."""
        self.decision = decision
        self._page.write_last(partial(self._content, is_live=False))
        write_json(self._context.folder / DECISION_NAME, decision)

    def _content(self, *, is_live: bool) -> tuple[str, Sections]:
        kind, recipe, (candidate, opponent) = self._kind, self._context.recipe, self._names.values()
        if candidate is None or not opponent:
            why = kind.texts.nothing_new if candidate is None else "there is no champion and no opponent to beat"
            return f"There is no deciding match tonight: {why}.", night_sections(kind, self._table)
        title = kind.texts.title(recipe.decision.test, candidate, opponent)
        played = f"{math.floor(self._num_games):,} {kind.games} have been played"
        text = f"{title} {played}; the decision takes at most {recipe.decision.games:,}."
        return text, night_sections(kind, self._table, self.decision, is_live=is_live)


# the promotion


def promote(context: Context) -> dict[str, float]:
    """Register the candidate with the evidence and move the champion's alias if it has won: ``promotion.json``."""
    kind, config = kind_of(context.recipe), context.recipe.registry
    decision, pool = read_json(context.upstream[DECISION] / DECISION_NAME), Pool.read(context.upstream[POOL])
    registry = ModelRegistry(context.tracker.store, config)
    candidate = pool.named(decision["candidate"])
    version = None
    if candidate is not None:
        evidence = kind.texts.evidence(decision, pool.version)
        promotion = partial(_promotion, context, pool, candidate, decision, evidence)
        nets = candidate.nets_in(context.upstream[POOL])
        if decision["is_won"]:
            version = registry.promote(nets, context.tracker, promotion(is_promoted=True))
        registry.nominate(nets, context.tracker, promotion(is_promoted=version is not None))
    now = version or registry.champion()
    result = {
        "promoted": version is not None,
        "champion": f"models:/{config.model}/{now}" if now else None,
        "reason": kind.texts.reason(decision, is_promoted=version is not None),
    }
    write_json(context.folder / PROMOTION_NAME, result)
    return {"promoted": float(version is not None)}


def _promotion(
    context: Context, pool: Pool, candidate: Entrant, decision: Decision, evidence: Evidence, *, is_promoted: bool
) -> Promotion:
    """Return the claim; ``is_promoted`` is false also for a candidate that has won while something else was faster."""
    night, tournament = context.recipe.night, context.folder.parent.name
    store, stage = context.tracker.store, context.tracker.run_id  # when MLflow has it, it has the tournament's too
    report = f"runs:/{store.run_ids.get(tournament, stage)}/{REPORT_NAME}"
    training, _, trained_stage = candidate.name.partition("/")
    tags = {"candidate": candidate.name, model_registry.TOURNAMENT_TAG: tournament, "night": night, "report": report}
    tags["verdict"] = evidence.outcome
    tags |= {"opponent": decision["opponent"]} if decision["opponent"] else {}
    tags |= {name.partition("/")[2]: f"{value:g}" for name, value in evidence.metrics.items()}
    tags |= evidence.tags
    tags |= {model_registry.STORED_TAG: " ".join(candidate.stored)} if candidate.stored else {}
    why = evidence.why
    if decision["is_won"] and not is_promoted:
        why = f"Not promoted: another promotion of this night was first, or the alias was moved. {why}"
    now = f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z}"
    texts = [
        why,
        f"{'Promoted' if is_promoted else 'Registered'} at {now} by the tournament `{tournament}` "
        f"(night {night}). Its report: `{report}`.",
        f"Trained in the run `{training}`" + (f", stage `{trained_stage}`." if trained_stage else "."),
    ]
    return Promotion(
        digest=candidate.digest,
        night=night,
        replaces=pool.version,
        description="\n\n".join(texts),
        trained_in=training,
        name=training,
        tags=tags,
        metrics=evidence.metrics,
    )
