"""Short games, for tests of what happens around games: whole games are most of their time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from suphx.games.riichi.rules import Rules, tenhou, tonpuu
from suphx.selfplay.rollouts.rollout import play_games

_RECORDS = "suphx.games.riichi.records.mjlog"


def _one_deal_rules() -> Rules:
    """Return rules by which a game ends after one deal."""
    rules = Rules(num_winds=1, extra_wind=False, bust="at zero", riichi_needs_points=False)
    object.__setattr__(rules, "start_points", 0)  # refused for real games: any result of a deal leaves a seat without
    return rules


@contextmanager
def one_deal_games() -> Iterator[None]:
    """Make the games of matches and tournaments in this process end after one deal."""
    with _games_by(_one_deal_rules()) as patch:
        # Records cannot say these rules: a reader of those of short games must allow riichi without points too.
        patch.setattr(f"{_RECORDS}.Rules", partial(Rules, riichi_needs_points=False))
        patch.setattr(f"{_RECORDS}.refuse_untold_game", lambda rules, read_back, game_id: None)
        yield


@contextmanager
def east_games() -> Iterator[None]:
    """Make the games of matches and tournaments end after the east round, in processes that this one starts too.

    Records can say these rules.
    """
    with _games_by(tonpuu()):
        yield


@contextmanager
def _games_by(rules: Rules) -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suphx.games.riichi.game.tenhou", lambda: rules)
        patch.setattr("suphx_pipelines.stages.records.play_games", _play_whole_games)
        yield patch


def _play_whole_games(agents: Any, seating: Any, seeds: Any, rules: Any, **options: Any) -> Any:
    """Play what nets learn from: of one deal a game there is nothing to learn about whole games."""
    return play_games(agents, seating, seeds, tenhou() if isinstance(rules, Rules) else rules, **options)
